"""The rule of what a member may contest, until when, and how many disputes at once. Pure.

Days are those of India, as in the monthly report.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Final

from msgspec import Struct

from mudra.disputes.dispute import OPEN, About, Dispute, Kind, State
from mudra.disputes.step_rule import REVIEW_WITHIN, text_refused
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.subject import codes_of
from mudra.metrics.payload.catalogue import TYPE_OF_API, WINDOW, window_start
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind, ValueRefused

CONTEST_WITHIN: Final = timedelta(days=62)
"""After its end: a day can be contested for 30 days after the report of its month."""
MAX_LINE: Final = timedelta(days=31)
MAX_OPEN: Final = 10
"""Disputes of a member that wait for a decision."""
MAX_A_DAY: Final = 20
"""Comments and disputes of a member in 24 hours: each is emailed to the operators."""
COUNTED: Final = timedelta(hours=24)
_INDIA: Final = timezone(timedelta(hours=5, minutes=30))
"""Days are those of India, whose offset has not changed since 1945: no database of zones is needed,
which the machine of a member's command may lack."""
_DAY: Final = timedelta(days=1)
_MOMENT: Final = timedelta(seconds=1)
_FIRST_YEAR: Final = 2000
_LAST_YEAR: Final = 2999


class RaiseCommand(Struct, frozen=True):
    """A member's wish to contest: an incident, a day, or one API from a day to a day."""

    kind: Kind
    about: About
    text: str
    incident_id: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    api: str | None = None


class Contested(Struct, frozen=True):
    """Whole windows: from `start` until before `end`, of some APIs or, with none named, all."""

    start: datetime
    end: datetime
    apis: tuple[str, ...] = ()
    incident_id: str | None = None


class AlreadyOpen(Refusal, frozen=True):
    """The member contests the same already."""

    kind = RefusalKind.CONFLICT
    dispute_id: str

    @property
    def sentence(self) -> str:
        """Return the text for the caller, with the way out."""
        return f"dispute {self.dispute_id} is about the same and is open: add to it"


TOO_MANY_OPEN: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"{MAX_OPEN} disputes of this member are open: withdraw one, or wait for a decision",
)
TOO_MANY_TODAY: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    f"{MAX_A_DAY} comments and disputes of this member were made in 24 hours: try again later",
)


def days_of(first: date, last: date) -> tuple[datetime, datetime]:
    """Return when the first day begins and the last one ends, in UTC."""
    start = datetime.combine(first, time(), _INDIA)
    end = datetime.combine(last + _DAY, time(), _INDIA)
    return start.astimezone(UTC), end.astimezone(UTC)


def days_within(start: datetime, end: datetime) -> tuple[date, date]:
    """Return the first and the last day of a time: the days that `days_of` made into it."""
    return start.astimezone(_INDIA).date(), (end - _MOMENT).astimezone(_INDIA).date()


def last_day_over(now: datetime) -> date:
    """Return the latest day that is over, which is the first that can be contested."""
    return now.astimezone(_INDIA).date() - _DAY


def contested(
    command: RaiseCommand, incident: Incident | None, now: datetime
) -> Contested | ValueRefused:
    """Return the windows that a command is about; `incident` is the one that it names."""
    found = _time_of(command, incident, now)
    if isinstance(found, ValueRefused):
        return found
    if found.end < now - CONTEST_WITHIN:
        return ValueRefused(
            _field(command.about),
            f"ended more than {CONTEST_WITHIN.days} days ago: it can no longer be contested",
        )
    return found


def _field(about: About) -> str:
    return {About.INCIDENT: "incidentId", About.DAY: "day", About.LINE: "lastDay"}[about]


def _time_of(
    command: RaiseCommand, incident: Incident | None, now: datetime
) -> Contested | ValueRefused:
    if command.about is not About.INCIDENT:
        return _days_of(command, now)
    if incident is None or command.incident_id is None:
        return ValueRefused("incidentId", "is missing: the ID of an incident of this member")
    end = max(incident.last_bad + WINDOW, incident.ended or incident.last_bad)
    apis = tuple(sorted(codes_of(incident.subject)))
    return Contested(window_start(incident.began), _edge_from(end), apis, command.incident_id)


def _edge_from(at: datetime) -> datetime:
    """Return the edge of a window at this moment, or the next one."""
    before = window_start(at)
    return before if before == at else before + WINDOW


def _days_of(command: RaiseCommand, now: datetime) -> Contested | ValueRefused:
    about, is_line = command.about, command.about is About.LINE
    if command.first_day is None:
        return ValueRefused("firstDay" if is_line else "day", "is missing: such as 2026-01-31")
    last_day = command.last_day if is_line and command.last_day else command.first_day
    if last_day < command.first_day:
        return ValueRefused("lastDay", "must not be earlier than firstDay")
    if not _FIRST_YEAR <= command.first_day.year <= last_day.year <= _LAST_YEAR:
        return ValueRefused(_field(about), f"must be in {_FIRST_YEAR} to {_LAST_YEAR}")
    start, end = days_of(command.first_day, last_day)
    if end > now:
        return ValueRefused(_field(about), "must be a day that is over (IST)")
    if not is_line:
        return Contested(start, end)
    if end - start > MAX_LINE:
        return ValueRefused("lastDay", f"must be at most {MAX_LINE.days} days from firstDay on")
    if command.api not in TYPE_OF_API:
        return ValueRefused("api", f"must be one of {', '.join(sorted(TYPE_OF_API))}")
    return Contested(start, end, (command.api,))


class Identity(Struct, frozen=True):
    """The member and person that raise it, and the ID it gets."""

    dispute_id: str
    entity_id: str
    raised_by: str


def raised(
    command: RaiseCommand,
    what: Contested,
    who: Identity,
    recent: Sequence[Dispute],
    now: datetime,
) -> Dispute | Refusal:
    """Return the new dispute or comment; `recent` are the member's open ones and those of a day."""
    refused = text_refused(command.text)
    if refused is not None:
        return refused
    if sum(one.raised_at > now - COUNTED for one in recent) >= MAX_A_DAY:
        return TOO_MANY_TODAY
    if command.kind is Kind.DISPUTE:
        same = next((one for one in recent if one.is_open and _is_same(one, what)), None)
        if same is not None:
            return AlreadyOpen(same.dispute_id)
        if sum(one.state in OPEN for one in recent) >= MAX_OPEN:
            return TOO_MANY_OPEN
    wants_decision = command.kind is Kind.DISPUTE
    return Dispute(
        dispute_id=who.dispute_id,
        entity_id=who.entity_id,
        kind=command.kind,
        about=command.about,
        incident_id=what.incident_id,
        apis=what.apis,
        start=what.start,
        end=what.end,
        state=State.RAISED if wants_decision else State.NOTED,
        raised_by=who.raised_by,
        raised_at=now,
        changed_at=now,
        due_at=now + REVIEW_WITHIN if wants_decision else None,
    )


def _is_same(one: Dispute, what: Contested) -> bool:
    return (one.start, one.end, one.apis, one.incident_id) == (
        *(what.start, what.end),
        *(what.apis, what.incident_id),
    )
