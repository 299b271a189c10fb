"""Incidents, found from the sequence of windows alone.

An incident opens after some bad windows in a row and closes after some good
ones, so that one odd window neither raises nor ends an alarm. Windows without
enough calls are neither. Incidents are always found again from the windows in
their order: a late window changes the sequence, not the rule, so whatever
came when, the same windows give the same incidents. `incident_change.py` says
what is new against what was known.

Ask for a sequence that begins well before the earliest open incident (a day
is enough with the standard rules), or give the open incident to continue.
"""

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.health.health import Status, Verdict
from mudra.metrics.payload.catalogue import WINDOW


class FipApi(Struct, frozen=True):
    """One API of one FIP, over all AAs; `type` is a code of spec 2.5."""

    fip_id: str
    type: str


class AaCalls(Struct, frozen=True):
    """All calls of one AA, over all FIPs."""

    aa_id: str


class AaReporting(Struct, frozen=True):
    """Whether one AA reports at all."""

    aa_id: str


Subject = FipApi | AaCalls | AaReporting


class Mark(enum.Enum):
    """What one window says of a subject."""

    GOOD = 0
    BAD = 1
    UNKNOWN = 2


class Observation(Struct, frozen=True):
    """One window of one subject."""

    window: datetime
    mark: Mark
    succeeded: int = 0
    judged: int = 0


class IncidentRules(Struct, frozen=True):
    """How many windows open and close, and what counts as one."""

    open_after: int = 2
    close_after: int = 3
    fewest_calls: int = 20
    forget_after: timedelta = timedelta(hours=1)
    """Bad windows further apart than this are not one row."""
    give_up_after: timedelta = timedelta(hours=24)
    """An open incident without any word for so long is closed as unknown."""


CALL_RULES: Final = IncidentRules()
REPORTING_RULES: Final = IncidentRules(open_after=2, close_after=2)
REPORT_GRACE: Final = timedelta(minutes=15)


class Ending(enum.StrEnum):
    """The state of an incident."""

    OPEN = "open"
    RECOVERED = "recovered"
    NO_DATA = "no-data"


class Incident(Struct, frozen=True):
    """From the first bad window to the first of the good ones that ended it."""

    subject: Subject
    began: datetime
    """Start of the first bad window."""
    last_bad: datetime
    ended: datetime | None
    ending: Ending
    bad_windows: int
    succeeded: int
    """Calls in bad windows that succeeded, of `judged`."""
    judged: int

    @property
    def kind(self) -> str:
        """What is wrong with its windows, in a word: `missing` or `bad`."""
        return "missing" if isinstance(self.subject, AaReporting) else "bad"


class StoredIncident(Struct, frozen=True):
    """A stored incident with what people did about it.

    `notified` is whether its members were notified, or needed not to be.
    """

    incident_id: str
    incident: Incident
    acknowledged_by: str | None
    notified: bool = True
    acknowledged_at: datetime | None = None

    @property
    def owner(self) -> str:
        """The email address of the operator who acknowledged it; empty for none."""
        return (self.acknowledged_by or "").removeprefix("operator:")


def observation(
    window: datetime, verdict: Verdict, rules: IncidentRules = CALL_RULES
) -> Observation:
    """What the verdict on one window says; too few calls say nothing."""
    if verdict.status is Status.UNSURE or verdict.judged < rules.fewest_calls:
        mark = Mark.UNKNOWN
    else:
        mark = Mark.GOOD if verdict.status is Status.GOOD else Mark.BAD
    return Observation(window, mark, verdict.succeeded, verdict.judged)


def reporting_observations(
    expected: Iterable[datetime], received: Mapping[datetime, datetime], now: datetime
) -> list[Observation]:
    """Good where a window's first report came by 15 minutes after its end.

    A window that came later stays bad for good, so that catching up does not
    rewrite the past. One that may still come in time says nothing yet.
    """
    found: list[Observation] = []
    for window in expected:
        deadline = window + WINDOW + REPORT_GRACE
        came = received.get(window)
        if came is not None and came <= deadline:
            found.append(Observation(window, Mark.GOOD))
        elif deadline <= now:
            found.append(Observation(window, Mark.BAD))
    return found


def incidents(
    subject: Subject,
    observations: Iterable[Observation],
    until: datetime,
    rules: IncidentRules,
    continued: Incident | None = None,
) -> tuple[Incident, ...]:
    """All incidents of one subject, oldest first; `until` is the end of the last closed window.

    `continued` is an open incident that began before the observations: they are read from
    its last bad window on, because it counts the earlier ones already.
    """
    read_until = continued.last_bad if continued else None
    walk = _Walk(subject, rules, running=continued, last=read_until)
    for seen in sorted(observations, key=lambda seen: seen.window):
        if seen.mark is not Mark.UNKNOWN and (read_until is None or seen.window > read_until):
            walk.give_up_by(seen.window)
            walk.step(seen)
    walk.give_up_by(until)
    return (*walk.done, *([walk.running] if walk.running else ()))


@dataclass(slots=True)
class _Walk:
    """The state between two windows."""

    subject: Subject
    rules: IncidentRules
    done: list[Incident] = field(default_factory=list)
    running: Incident | None = None
    bad_row: list[Observation] = field(default_factory=list)
    good_row: list[Observation] = field(default_factory=list)
    last: datetime | None = None

    def step(self, seen: Observation) -> None:
        far = self.last is not None and seen.window - self.last > self.rules.forget_after
        self.last = seen.window
        if self.running is not None:
            self._step_open(seen, self.running)
        elif seen.mark is Mark.GOOD:
            self.bad_row.clear()
        else:
            self.bad_row = [seen] if far else [*self.bad_row, seen]
            if len(self.bad_row) >= self.rules.open_after:
                self._open()

    def give_up_by(self, moment: datetime) -> None:
        if self.running is None or self.last is None:
            return
        end = self.last + self.rules.give_up_after
        if moment > end:
            self._close(end, Ending.NO_DATA)

    def _open(self) -> None:
        row = self.bad_row
        self.running = Incident(
            self.subject,
            began=row[0].window,
            last_bad=row[-1].window,
            ended=None,
            ending=Ending.OPEN,
            bad_windows=len(row),
            succeeded=sum(seen.succeeded for seen in row),
            judged=sum(seen.judged for seen in row),
        )
        self.bad_row = []

    def _step_open(self, seen: Observation, running: Incident) -> None:
        if seen.mark is Mark.GOOD:
            self.good_row.append(seen)
            if len(self.good_row) >= self.rules.close_after:
                self._close(self.good_row[0].window, Ending.RECOVERED)
            return
        self.good_row.clear()
        self.running = replace(
            running,
            last_bad=seen.window,
            bad_windows=running.bad_windows + 1,
            succeeded=running.succeeded + seen.succeeded,
            judged=running.judged + seen.judged,
        )

    def _close(self, moment: datetime, ending: Ending) -> None:
        if self.running is not None:
            self.done.append(replace(self.running, ended=moment, ending=ending))
        self.running = None
        self.good_row.clear()
        self.bad_row.clear()
