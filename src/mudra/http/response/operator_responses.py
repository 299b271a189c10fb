"""Responses about the service itself: the dashboard and the settings."""

from msgspec import Struct

from mudra.http.response.response_body import DateTime, ResponseBody
from mudra.overview.operator_dashboard import BoardRow
from mudra.overview.setting_details import SettingDetails
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


class BoardRowResponse(Struct, kw_only=True, rename="camel"):
    """One item that needs attention, with the next step."""

    kind: str
    urgency: str
    subject: str
    entity_id: str
    at: DateTime
    what: str
    next_act: str


class BoardResponse(ResponseBody, kw_only=True):
    """What needs attention this week; `hidden` are the kinds that the caller's scopes hide."""

    rows: list[BoardRowResponse]
    hidden: list[str]


def setting_response(one: SettingDetails) -> SettingResponse:
    """Return a setting as programs read it."""
    return SettingResponse(
        name=one.env,
        value=one.value,
        source=one.source.value,
        meaning=one.meaning,
        allowed=one.allowed,
    )


def board_row(row: BoardRow) -> BoardRowResponse:
    """Return a row of the dashboard as programs read it."""
    return BoardRowResponse(
        kind=row.kind.value,
        urgency=row.urgency.value,
        subject=row.subject,
        entity_id=row.entity_id,
        at=iso_ms(row.at),
        what=row.what,
        next_act=row.next_act,
    )
