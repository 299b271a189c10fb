"""Responses about the service itself: the dashboard and the settings."""

from msgspec import Struct, field

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.overview.administration import SettingDetails
from mudra.overview.board.dashboard_rows import DashboardRow
from mudra.shared.time_text import iso_ms


class SettingResponse(Struct, kw_only=True):
    """One setting in force."""

    name: str
    value: str
    source: str
    meaning: str
    allowed: str


class SettingsResponse(ResponseBody, kw_only=True):
    """The settings in force; secrets show only whether they are set."""

    settings: list[SettingResponse]


class DashboardRowResponse(Struct, kw_only=True, rename="camel"):
    """One item that needs attention, with the next step."""

    kind: str
    urgency: str
    subject: str
    entity_id: str
    at: DateTime
    what: str
    next_step: str = field(name="nextAct")


class DashboardResponse(ResponseBody, kw_only=True):
    """The week's matters for attention; `hidden` are the kinds that the caller's scopes hide.

    `rows` are at most 200 of a kind, `counts` how many there are of each. Where no report was
    judged for long, `unjudgedSince` says since when: what is broken now is not known.
    """

    rows: list[DashboardRowResponse]
    hidden: list[str]
    counts: dict[str, int]
    unjudged_since: DateTime | None = field(name="unjudgedSince")


def setting_response(one: SettingDetails) -> SettingResponse:
    """Return a setting as programs read it."""
    return SettingResponse(
        name=one.env,
        value=one.value,
        source=one.source.value,
        meaning=one.meaning,
        allowed=one.allowed,
    )


def dashboard_row(row: DashboardRow) -> DashboardRowResponse:
    """Return a row of the dashboard as programs read it."""
    return DashboardRowResponse(
        kind=row.kind.value,
        urgency=row.urgency.value,
        subject=row.subject,
        entity_id=row.entity_id,
        at=iso_ms(row.at),
        what=row.what,
        next_step=row.next_step,
    )
