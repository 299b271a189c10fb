"""The tables of the health pages, each with its columns."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from msgspec import Struct

from mudra.console.framework.table import Column, Table
from mudra.console.health.callable_members import Callee
from mudra.console.health.charts import Moment
from mudra.console.health.grid import HEALTH, pair_path
from mudra.console.health.health_query import HealthQuery
from mudra.console.health.labels import (
    SEVERITY_TONES,
    operator_path_of,
    state_label,
    subject_ids,
)
from mudra.localization.duration import span_text
from mudra.localization.language import gettext, ngettext, translatable
from mudra.metrics.health.api_names import api_name, type_name
from mudra.metrics.health.health import Health, Status
from mudra.metrics.health.picture import ApiPicture
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.subject import text_of
from mudra.metrics.incidents.verdict import reach_of
from mudra.metrics.notifications.severity import Severity, severity_of
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.percentage import percentage, share_of
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.rollup import ResponseTime

R = TypeVar("R")
_AFTER_ALL: Final = 9e11
"""More than any time in seconds, and any number of calls: less one of them has as many digits."""
INCIDENTS: Final = "incidents"
"""The table of incidents, by its name in addresses and forms."""
_WHOLE_FROM: Final = 10
_FEW: Final = 14
"""Rows of a table among others on one page: all APIs, or the worst counterparts."""
_DISRUPTED: Final = translatable("disrupted now")
_FROM: Final = translatable("From")
_SUCCESS: Final = translatable("Success %")
_EACH: Final = {
    Step.WINDOW: translatable("Metrics for each ten minutes"),
    Step.HOUR: translatable("Metrics for each hour"),
    Step.SIX_HOURS: translatable("Metrics for each six hours"),
    Step.DAY: translatable("Metrics for each day (UTC)"),
}
_TIMES: Final = {50: translatable("p50 ms"), 95: translatable("p95 ms"), 99: translatable("p99 ms")}
_TONES = {Status.GOOD: "good", Status.BAD: "bad", Status.UNSURE: "quiet"}


class ApiRow(Struct, frozen=True):
    """One API of one subject, with a link to its own page; `entity_id` where it is a member's."""

    who: str
    link: str
    api: ApiPicture
    entity_id: str = ""
    is_disrupted: bool = False
    """Whether an open incident disrupts it, however well it was over the whole time."""


def apis_table(name: str, title: str, first: str, *of_members: Column[ApiRow]) -> Table[ApiRow]:
    """Returns the table of success, errors and times of APIs, or with `of_members` of those."""
    return Table(
        name,
        title,
        (
            Column(
                "who",
                first,
                lambda row: row.who,
                link=lambda row: row.link,
                also=lambda row: row.entity_id,
            ),
            *of_members,
            Column("status", translatable("Status"), _status, "tag", tone=_tone, order=_order),
            Column("success", _SUCCESS, lambda row: success_of(row.api.health), "number"),
            *_counts(lambda row: row.api.health),
            Column("refused", "4xx", lambda row: _errors(row.api.health).refused, "number"),
            Column("missing", "404", lambda row: _errors(row.api.health).not_found, "file"),
            Column(
                "client",
                translatable("Other 4xx"),
                lambda row: _errors(row.api.health).client,
                "file",
            ),
            *_times(lambda row: row.api.time, rare="file"),
            Column(
                "p100", translatable("Longest ms"), lambda row: _longest(row.api.time), "number"
            ),
        ),
        first_sort="status",  # bad, good, unsure: bad ones first
        rows=_FEW,
    )


def counterparts_table(first: str, *, with_api: bool) -> Table[ApiRow]:
    """Returns the table of the members on the other side, each by its name with one API."""
    api = Column[ApiRow]("api", translatable("Worst API"), lambda row: api_name(row.api.type))
    return apis_table(
        "others",
        translatable("Counterparts"),
        first,
        Column("id", translatable("ID"), lambda row: row.entity_id, "file"),
        *([api] if with_api else []),
    )


def moments_table(step: Step) -> Table[Moment]:
    """Returns the table of the charts' metrics, one row for each step."""
    return Table(
        "moments",
        _EACH[step],
        (
            Column("start", _FROM, lambda row: row.start, "time", link=lambda row: row.link),
            Column("success", _SUCCESS, lambda row: success_of(row.health), "number"),
            *_counts(lambda row: row.health),
            *_times(_time_of),
        ),
        first_sort="-start",
    )


def _counts(health: Callable[[R], Health | None]) -> tuple[Column[R], ...]:
    return (
        Column("calls", translatable("Calls"), lambda row: _total(health(row)), "number"),
        Column(
            "none",
            translatable("No answer"),
            lambda row: _errors(health(row)).no_answer,
            "number",
        ),
        Column("server", "5xx", lambda row: _errors(health(row)).server, "number"),
    )


def _times(time: Callable[[R], ResponseTime | None], rare: str = "number") -> tuple[Column[R], ...]:
    """Returns the columns of percentiles; the 99th is of the kind `rare`."""

    def column(percent_: int, kind: str = "number") -> Column[R]:
        key = f"p{percent_}"
        return Column(key, _TIMES[percent_], lambda row: _percentile(time(row), percent_), kind)

    return column(50), column(95), column(99, rare)


def incidents_table(
    names: Mapping[str, str],
    title: str = translatable("Incidents"),
    callees: Mapping[str, Callee] | None = None,
    *,
    now: datetime,
) -> Table[StoredIncident]:
    """Returns the table of incidents: open ones, the worst first, then the latest of the others.

    Open ones can be chosen where one can act: where `callees` says, by incident, who is to be
    called.
    """
    called = callees or {}
    return Table(
        INCIDENTS,
        title,
        (
            Column(
                "what",
                translatable("What"),
                lambda one: text_of(one.incident.subject, names),
                link=operator_path_of,
                also=lambda one: subject_ids(one.incident.subject),
            ),
            Column(
                "severity",
                translatable("Severity"),
                lambda one: severity_of(one.incident).value,
                "tag",
                tone=lambda one: SEVERITY_TONES[severity_of(one.incident)],
                order=lambda one: list(Severity).index(severity_of(one.incident)),
                phone="state",
            ),
            Column(
                "state",
                translatable("State"),
                lambda one: state_label(one)[0],
                "tag",
                tone=lambda one: state_label(one)[1],
                order=_open_first,
                phone="state",
            ),
            *_when(now),
            Column(
                "bad", translatable("Bad windows"), lambda one: one.incident.bad_windows, "file"
            ),
            *_harm(),
            Column(
                "seen",
                translatable("Owner"),
                lambda one: one.owner or None,
                "address",
                phone="figure",
            ),
            *([] if callees is None else [_call_column(called)]),
        ),
        first_sort="state",
        choose=None if callees is None else lambda one: one.incident_id if one.is_open else "",
    )


def _when(now: datetime) -> tuple[Column[StoredIncident], ...]:
    return (
        Column(
            "began",
            translatable("Began"),
            lambda one: one.incident.began,
            "time",
        ),
        Column("ended", translatable("Ended"), lambda one: one.incident.ended, "file"),
        Column(
            "lasted",
            translatable("Duration"),
            lambda one: span_text(_lasted(one.incident, now)),
            order=lambda one: _lasted(one.incident, now).total_seconds(),
            phone="figure",
        ),
    )


def _harm() -> tuple[Column[StoredIncident], ...]:
    return (
        Column(
            "calls",
            translatable("Affected / min"),
            _calls_a_minute,
            "number",
            phone="figure",
        ),
        Column("failed", translatable("Failed %"), _failed, "number", phone="figure"),
        Column("success", _SUCCESS, incident_success, "file"),
    )


def _lasted(found: Incident, now: datetime) -> timedelta:
    """Returns how long an incident lasted, or has so far."""
    return (found.ended or now) - found.began


def _calls_a_minute(one: StoredIncident) -> float | None:
    """Returns the calls that fail or are slow; from ten on whole ones, as they are an estimate."""
    calls = reach_of(one.incident).calls_a_minute
    return calls if calls is None or calls < _WHOLE_FROM else round(calls)


def _failed(one: StoredIncident) -> float | None:
    """Returns the share of calls that fail in its bad windows, as its title says it."""
    success = incident_success(one)
    return None if success is None else round(100 - success, 1)


def _open_first(one: StoredIncident) -> str:
    """Returns what sorts open ones by severity, calls affected a minute and time before others."""
    latest = f"{_AFTER_ALL - one.incident.began.timestamp():.0f}"
    if not one.is_open:
        return f"over {latest}"
    calls = _AFTER_ALL - (reach_of(one.incident).calls_a_minute or 0)
    mildness = len(Severity) - list(Severity).index(severity_of(one.incident))
    return f"open {mildness} {calls:.1f} {latest}"


def _call_column(called: Mapping[str, Callee]) -> Column[StoredIncident]:
    def callee(one: StoredIncident) -> Callee | None:
        return called.get(one.incident_id)

    return Column(
        "call",
        translatable("Call"),
        lambda one: found.phone if (found := callee(one)) else None,
        link=lambda one: found.link if (found := callee(one)) else "",
    )


def api_rows(
    apis: Sequence[ApiPicture], view: HealthQuery, is_disrupted: Callable[[str], bool]
) -> list[ApiRow]:
    """Returns one row for each API of request metrics and each notification, in their order."""
    rows = []
    for api in apis:
        notified = api.tag is Tag.NOTIFICATIONS
        label = type_name(api.tag, api.type)
        link = "" if notified or api.health is None else view.query(type=api.type)
        now = not notified and is_disrupted(api.type)
        rows.append(ApiRow(f"{label} ({api.type})", link, api, is_disrupted=now))
    return rows


def counterpart_path(aa_id: str, fip_id: str, query: str) -> str:
    """Returns the link of a counterpart's row: to the pair, the FIP or the AA, with this query."""
    if aa_id and fip_id:
        return pair_path(aa_id, fip_id) + query
    return f"{HEALTH}/fip/{fip_id}{query}" if fip_id else f"{HEALTH}/aa/{aa_id}{query}"


def _status(row: ApiRow) -> str | None:
    """Returns the status; where it leaves AAs out, which see the opposite, also of how many."""
    if row.api.health is None:
        return None
    if row.is_disrupted and row.api.health.status is not Status.BAD:
        return _DISRUPTED
    status, alone = row.api.health.status.value.lower(), len(row.api.health.outvoted)
    if not alone:
        return status
    return ngettext(
        "%(status)s but for %(num)s AA", "%(status)s but for %(num)s AAs", alone,
        status=gettext(status),
    )  # fmt: skip


def _tone(row: ApiRow) -> str:
    if row.api.health is None:
        return "quiet"
    if row.is_disrupted:
        return "bad"
    is_good = row.api.health.status is Status.GOOD
    return "warn" if is_good and row.api.health.outvoted else _TONES[row.api.health.status]


def _order(row: ApiRow) -> str | None:
    """Returns what sorts bad before disrupted now, good but for some, good, and unsure."""
    if row.api.health is None:
        return None
    status = row.api.health.status.value.lower()
    if row.is_disrupted and status != "bad":
        return "bad now"
    return "better" if status == "good" and row.api.health.outvoted else status


def success_of(health: Health | None) -> float | None:
    """Returns success as a percentage; None where it is not known."""
    return percentage(health.success, 1) if health else None


class _Errors(Struct, frozen=True):
    no_answer: int | None = None
    server: int | None = None
    not_found: int | None = None
    client: int | None = None

    @property
    def refused(self) -> int | None:
        """All 4xx."""
        if self.not_found is None or self.client is None:
            return None
        return self.not_found + self.client


def _errors(health: Health | None) -> _Errors:
    if health is None:
        return _Errors()
    e = health.errors
    return _Errors(e.no_answer, e.server_5xx, e.not_found_404, e.other_4xx)


def _time_of(row: Moment) -> ResponseTime | None:
    return row.health.time if row.health else None


def _total(health: Health | None) -> int | None:
    return health.total if health else None


def _percentile(time: ResponseTime | None, percent_: int) -> int | None:
    if time is None:
        return None
    return {50: time.p50, 95: time.p95, 99: time.p99}[percent_]


def _longest(time: ResponseTime | None) -> int | None:
    return time.p100 if time else None


def incident_success(one: StoredIncident) -> float | None:
    """Returns success in the bad windows of an incident as a percentage, if its calls fail."""
    incident = one.incident
    if not incident.failing:
        return None
    return percentage(share_of(incident.succeeded, incident.eligible), 1)
