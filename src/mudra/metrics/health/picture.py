"""The picture of the network: sums by FIP, AA, pair and API, each with its proof (issue 4, 3)."""

import enum
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType

from msgspec import Struct

from mudra.metrics.health.health import FiOutcomes, Health, Proof, Status
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.ports import PublicMembers, ReportMarks
from mudra.metrics.rollup.coverage import ReportingTimes, TimeRange, due_until
from mudra.metrics.sums.rollup import ResponseTime


class Grouping(enum.StrEnum):
    """The subject of one row of a picture; an empty ID means all."""

    NETWORK = "network"
    FIP = "fip"
    AA = "aa"
    PAIR = "pair"


class Subject(Struct, frozen=True, gc=False):
    """The AA and FIP of a row; empty for all."""

    aa_id: str
    fip_id: str


class ApiPicture(Struct, frozen=True, gc=False):
    """One API: `health` is None for the two timings, which cannot fail."""

    tag: Tag
    type: str
    health: Health | None
    time: ResponseTime | None
    data_bytes: int | None
    outcomes: FiOutcomes | None


class Row(Struct, frozen=True):
    """One subject with its APIs, and the share of expected reports that was received."""

    subject: Subject
    apis: tuple[ApiPicture, ...]
    proof: Proof


class Coverage(Struct, frozen=True):
    """Windows expected and windows received, by AA; each window has both payloads."""

    expected: Mapping[str, int]
    """Those that are due: reports of later ones may still come in time."""
    received: Mapping[tuple[str, Tag], int]
    early: Mapping[tuple[str, Tag], int] = MappingProxyType({})
    """Those of the received that are not due yet; each counts as expected."""

    def proof(self, aa_id: str = "") -> Proof:
        """Returns the proof over one AA, or over all."""
        counted = [self._reports(aa) for aa in self.expected if aa_id in {"", aa}]
        return Proof(
            reporters_seen=sum(1 for received, _ in counted if received),
            reporters_expected=sum(1 for _, expected in counted if expected),
            windows_received=sum(received for received, _ in counted),
            windows_expected=sum(expected for _, expected in counted),
        )

    def _reports(self, aa_id: str) -> tuple[int, int]:
        """Returns the reports of an AA that were received, and those that were expected."""
        received = expected = 0
        for tag in Tag:
            due, early = self.expected[aa_id], self.early.get((aa_id, tag), 0)
            received += min(self.received.get((aa_id, tag), 0) - early, due) + early
            expected += due + early
        return received, expected


def expected_windows(
    within: TimeRange, reporting: Mapping[str, ReportingTimes], now: datetime
) -> dict[str, int]:
    """Returns how many windows of this time that are due each AA had to report.

    An AA that need not report now is among them if it had to within this time.
    """
    due = TimeRange(within.start, min(within.end, due_until(now)))
    numbers = {
        aa_id: sum(one.number for one in times.within(due)) for aa_id, times in reporting.items()
    }
    return {
        aa_id: number
        for aa_id, number in numbers.items()
        if number or reporting[aa_id].open_since is not None
    }


async def coverage_of(
    members: PublicMembers,
    marks: ReportMarks,
    within: TimeRange,
    now: datetime,
    aa_id: str | None = None,
) -> Coverage:
    """Returns which reports of all AAs, or of one, were expected in a time, and which came."""
    reporting = await members.reporting_aas()
    if aa_id is not None:
        reporting = {aa: times for aa, times in reporting.items() if aa == aa_id}
    expected = expected_windows(within, reporting, now)
    reported = await marks.received(within, due_until(now))
    received = dict(reported.windows)
    for aa, times in reporting.items():
        parts = times.within(within)
        if aa in expected and times.has_pauses and parts != (within,):
            received |= await _received_in(marks, aa, parts)
    return Coverage(expected, received, reported.early)


async def _received_in(
    marks: ReportMarks, aa_id: str, times: Sequence[TimeRange]
) -> Mapping[tuple[str, Tag], int]:
    """Returns the windows that an AA had to report, and did.

    Once it is active again it may send those of its suspension too: they must not stand for others
    that it did not send.
    """
    found = {(aa_id, tag): 0 for tag in Tag}
    for part in times:
        reported = await marks.received(part)
        for key in found:
            found[key] += reported.windows.get(key, 0)
    return found


class MatrixCell(Struct, frozen=True, gc=False):
    """The calls of one AA to one FIP; the status is that of the counts, whatever its cause."""

    aa_id: str
    fip_id: str
    status: Status
    succeeded: int
    eligible: int


class Verdict(Struct, frozen=True):
    """One cause of a cell's troubles in the time of the matrix."""

    aa_id: str
    fip_id: str
    cause: StoredIncident


class Matrix(Struct, frozen=True):
    """AA x FIP, the causes of the time, and which of them explain which cell."""

    cells: tuple[MatrixCell, ...]
    causes: tuple[StoredIncident, ...]
    verdicts: tuple[Verdict, ...]
