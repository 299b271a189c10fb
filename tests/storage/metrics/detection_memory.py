"""The ports of detection in memory: what was judged and found, without a database."""
# the ports that DetectionMemory implements describe their methods

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from datetime import datetime

from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.notifications.escalation import Escalation
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.rollup.coverage import TimeRange


class DetectionMemory:
    """All but the reports and the members, which its user adds."""

    escalation = Escalation()

    def __init__(self) -> None:
        self.late: set[datetime] = set()
        self.late_again: set[datetime] = set()
        """Windows of which another report came since: each has a mark more."""
        self.stored: dict[str, StoredIncident] = {}
        self.journals: dict[datetime, bytes] = {}
        self.silences: list[Silence] = []
        self.fip_rows: list[tuple[datetime, bytes, bytes]] = []
        self.own: dict[datetime, bytes] = {}
        self.changes = b""

    async def escalate(self, *_: object) -> Sequence[StoredIncident]:
        return ()

    async def lock(self, *, patient: bool) -> None:
        pass

    async def stale_windows(self, _: datetime) -> Mapping[datetime, Sequence[int]]:
        marks: dict[datetime, list[int]] = {}
        for window, mark in self._marks():
            marks.setdefault(window, []).append(mark)
        return marks

    async def clear(self, marks: Sequence[int]) -> None:
        self.late -= {window for window in self.late if _mark(window) in marks}
        self.late_again -= {window for window in self.late_again if _mark(window) + 1 in marks}

    async def are_left(self, marks: Sequence[int]) -> bool:
        return set(marks) <= {mark for _, mark in self._marks()}

    def _marks(self) -> list[tuple[datetime, int]]:
        again = [(window, _mark(window) + 1) for window in self.late_again]
        return [*((window, _mark(window)) for window in self.late), *again]

    async def first_received(self, since: datetime) -> datetime | None:
        return since

    async def last_evaluated(self) -> datetime | None:
        return max(self.journals, default=None)

    async def journal_before(self, window: datetime) -> bytes | None:
        before = [at for at in self.journals if at < window]
        return self.journals[max(before)] if before else None

    async def save_journals(
        self,
        journals: AsyncIterator[tuple[datetime, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        kept = {
            at: one
            for at, one in self.journals.items()
            if drop_before <= at < since and at.minute == 50
        }
        self.journals = kept | {at: one async for at, one in journals}

    async def fip_counts(self, within: TimeRange) -> list[tuple[datetime, bytes]]:
        return [(at, counts) for at, counts, _ in self.fip_rows if within.start <= at < within.end]

    async def fip_states(self, *, before: datetime) -> bytes | None:
        known = [states for at, _, states in self.fip_rows if at < before]
        return known[-1] if known else None

    async def save_fip_states(
        self, rows: Iterable[tuple[datetime, bytes, bytes]], *, since: datetime,
        drop_before: datetime,
    ) -> None:  # fmt: skip
        kept = [row for row in self.fip_rows if drop_before <= row[0] < since]
        self.fip_rows = [*kept, *rows]

    async def own_hour(self, at: datetime) -> bytes | None:
        return self.own.get(at)

    async def save_own_calls(
        self, hours: Mapping[datetime, bytes], *, since: datetime, drop_before: datetime
    ) -> None:
        kept = {at: own for at, own in self.own.items() if drop_before <= at < since}
        self.own = kept | dict(hours)

    async def own_hours(self, since: datetime) -> Mapping[datetime, bytes]:
        return {at: own for at, own in self.own.items() if at >= since}

    async def save_changes(self, changes: bytes, _: datetime) -> None:
        self.changes = changes

    async def since(self, moment: datetime) -> list[StoredIncident]:
        return [
            one
            for one in self.stored.values()
            if one.incident.ended is None or one.incident.ended >= moment
        ]

    async def save(self, notifications: Iterable[IncidentNotification], _: datetime) -> None:
        for one in notifications:
            self.stored[one.incident_id] = StoredIncident(
                one.incident_id, one.incident, None, one.notified, recipients=one.recipients
            )

    async def ending_after(self, moment: datetime) -> list[Silence]:
        return [one for one in self.silences if one.ends > moment]

    async def send(self, *_: object) -> None:
        pass


def _mark(window: datetime) -> int:
    return int(window.timestamp())
