"""Messages to webhooks about disputes, levels, maintenances, capacity: samples, and when sent."""

from datetime import UTC, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from mudra.comparison.capacity import CapacityEvent, capacity_body
from mudra.comparison.capacity_store import CapacityNotice
from mudra.disputes.dispute import About, Act, Dispute, Kind, State, Step
from mudra.disputes.dispute_message import body_of as dispute_body
from mudra.disputes.dispute_message import event_of
from mudra.levels.budgets.burn_message import EVENT as BUDGET
from mudra.levels.budgets.burn_message import body_of as budget_body
from mudra.levels.budgets.burn_rule import Seen, burns_of
from mudra.levels.budgets.burn_store import StoredBurn
from mudra.levels.calculation import Figure
from mudra.levels.months import month_of
from mudra.levels.report_news import EVENT as REPORT
from mudra.levels.report_news import ReportData, ReportMessage
from mudra.levels.target import ALL_APIS, Measure
from mudra.metrics.incidents.own_maintenance import announcer_of
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.incidents.silence_service import MaintenanceEvent, maintenance_body
from mudra.metrics.rollup.coverage import due_until

_ID: Final = "0195562f-6b1e-7c44-9f0e-2f5f6a7b8c9d"
_RAISED: Final = datetime(2026, 3, 1, 6, 30, tzinfo=UTC)
_NOTICED: Final = datetime(2026, 3, 2, 2, 40, 3, tzinfo=UTC)
"""A Monday."""
_OF_STATES: Final = {
    State.NOTED: "A comment was published.",
    State.RAISED: "The member raised it.",
    State.UNDER_REVIEW: "An operator took it or reopened it.",
    State.INFORMATION_WANTED: "An operator asks the member for more.",
    State.ACCEPTED: "It is accepted.",
    State.PARTLY_ACCEPTED: "It is accepted in part.",
    State.REJECTED: "It is rejected.",
    State.WITHDRAWN: "The member withdrew it.",
    State.LAPSED: "The member did not answer in time.",
}
_OF_ACTS: Final = {
    Act.INFORM: "The member answered, or added to its statement; `state` is the one after it.",
    Act.ANSWER: "An operator wrote to the member.",
    Act.ATTACH: "The member attached a file.",
    Act.OVERDUE: "The operator is late.",
}


def dispute_events() -> dict[str, str]:
    """Return when each message about a dispute is sent."""
    moved = {_event(Act.REVIEW, state): text for state, text in _OF_STATES.items()}
    return moved | {_event(act, State.RAISED): text for act, text in _OF_ACTS.items()}


def _event(act: Act, state: State) -> str:
    return event_of(Step(1, _RAISED, "", act, state, ""))


def dispute_sample() -> bytes:
    """Return the message about a day that a FIP contests."""
    start = datetime(2026, 2, 26, 18, 30, tzinfo=UTC)
    dispute = Dispute(
        *(_ID, "KAVERI-FIP", Kind.DISPUTE, About.DAY, None, ()),
        *(start, start + timedelta(days=1), State.RAISED, "user:1"),
        *(_RAISED, _RAISED, _RAISED + timedelta(days=5)),
    )
    return dispute_body(dispute, Step(1, _RAISED, "user:1", Act.RAISE, State.RAISED, ""))


def budget_sample() -> bytes:
    """Return the message about a budget that will not last, its numbers by the rule of budgets."""
    zone = ZoneInfo("Asia/Kolkata")
    month, at = month_of(_RAISED, zone), datetime(2026, 3, 16, 2, 10, tzinfo=UTC)
    so_far, week, day = _figure(1_000_000, 6_100), _figure(450_000, 2_900), _figure(64_000, 450)
    seen = Seen(month=[so_far], week=[week], day=[day])
    (burn,) = burns_of(seen, month, due_until(at))
    return budget_body(StoredBurn("KAVERI-FIP", month.start, at, burn))


def _figure(calls: int, failed: int) -> Figure:
    return Figure(
        *(Measure.AVAILABILITY, ALL_APIS, None, calls - failed, calls, 2, 0, 0, 0, 0),
        *(99.5, None, None),
    )


def report_sample() -> bytes:
    """Return the message about a second version of a month, of which one target was missed."""
    start, end = (
        datetime(2026, 1, 31, 18, 30, tzinfo=UTC),
        datetime(2026, 2, 28, 18, 30, tzinfo=UTC),
    )
    made_at = datetime(2026, 3, 3, 1, 10, 7, tzinfo=UTC)
    data = ReportData(_ID, "KAVERI-FIP", start, end, 2, (Measure.AVAILABILITY.value,))
    return msgspec.json.encode(ReportMessage(REPORT, made_at, data))


LEVEL_EVENTS: Final = {
    REPORT: "A report was made, or a further version of one.",
    BUDGET: "An error budget will be gone before the month ends, or is gone.",
}

MAINTENANCE_EVENTS: Final = {
    MaintenanceEvent.ANNOUNCED: "A planned maintenance was announced.",
    MaintenanceEvent.CHANGED: "Its times changed; also where it is ended before its end.",
    MaintenanceEvent.WITHDRAWN: "It was withdrawn before it began.",
}


CAPACITY_EVENTS: Final = {
    CapacityEvent.NOTICE: "More calls may come in a day than were ever handled well in one.",
    CapacityEvent.OVER: "Such a notice is over.",
}


def capacity_sample() -> bytes:
    """Return the message about a Friday that may have more calls than any day before."""
    expected, handled = datetime(2026, 3, 27, tzinfo=UTC).date(), datetime(2026, 2, 27, tzinfo=UTC)
    one = CapacityNotice(
        *("KAVERI-FIP", _NOTICED, expected, 410_000, 455_000, handled.date(), 431_200)
    )
    return capacity_body(CapacityEvent.NOTICE, one, _NOTICED)


def maintenance_sample() -> bytes:
    """Return the message about work that a FIP announced a day and a half ahead."""
    begins = _RAISED + timedelta(hours=36)
    one = Silence(
        *(_ID, "KAVERI-FIP", "", begins, begins + timedelta(hours=2), "new disks"),
        *(announcer_of("KAVERI-FIP"), "", True),
        announced_at=_RAISED,
    )
    return maintenance_body(MaintenanceEvent.ANNOUNCED, one, _RAISED)
