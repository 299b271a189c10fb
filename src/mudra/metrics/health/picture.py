"""The picture of the network: sums by FIP, AA, pair and API, each with its proof (issue 4, 3)."""

import enum
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.health.health import (
    FiOutcomes,
    Health,
    Proof,
    Status,
    fi_outcomes,
    health_of_calls,
    health_of_notifications,
    status_of_calls,
)
from mudra.metrics.health.weighed import Disputed, eligible
from mudra.metrics.incidents.explanation import explains
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.payload.catalogue import (
    TIMING_CODES,
    NotificationType,
    Position,
    RequestType,
    Tag,
)
from mudra.metrics.ports import PublicMembers, ReportMarks
from mudra.metrics.rollup.coverage import ReportingTimes, TimeRange, due_until
from mudra.metrics.sums.rollup import Cell, ResponseTime, Rollup

if TYPE_CHECKING:
    from mudra.metrics.sums.totals import Totals

_NONE_DISPUTED: Final[Disputed] = MappingProxyType({})


class Grouping(enum.StrEnum):
    """The subject of one row of a picture; an empty ID means all."""

    NETWORK = "network"
    FIP = "fip"
    AA = "aa"
    PAIR = "pair"


class Subject(Struct, frozen=True):
    """The AA and FIP of a row; empty for all."""

    aa_id: str
    fip_id: str


class ApiPicture(Struct, frozen=True):
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


_KEYS: Final = {
    Grouping.NETWORK: ("type",),
    Grouping.FIP: ("type", "fip"),
    Grouping.AA: ("type", "aa"),
    Grouping.PAIR: ("type", "aa", "fip"),
}


def picture(
    totals: "Totals", grouping: Grouping, coverage: Coverage, disputed: Disputed = _NONE_DISPUTED
) -> tuple[Row, ...]:
    """Returns the rows of a picture, in order of AA and FIP.

    Where an API over several AAs is disputed, its status is what most AAs see. Its sums stay. The
    times of one window of a pair are as reported.
    """
    apis: dict[Subject, dict[tuple[Tag, str], ApiPicture]] = defaultdict(dict)
    as_reported = grouping is Grouping.PAIR and totals.are_reports
    for cell, sums in (totals if as_reported else totals.by(*_KEYS[grouping])).items():
        apis[Subject(cell.aa_id, cell.fip_id)][cell.tag, cell.type] = _api(cell, sums)
    proof = cache(coverage.proof)
    return tuple(
        Row(subject, _weighed(_in_order(of_subject), subject, disputed), proof(subject.aa_id))
        for subject, of_subject in sorted(
            apis.items(), key=lambda one: (one[0].aa_id, one[0].fip_id)
        )
    )


def _weighed(
    apis: tuple[ApiPicture, ...], subject: Subject, disputed: Disputed
) -> tuple[ApiPicture, ...]:
    if subject.aa_id or not disputed:
        return apis
    return tuple(
        replace(
            api,
            health=replace(
                api.health, status=weighed.status, certain=False, outvoted=weighed.outvoted
            ),
        )
        if api.health
        and api.tag is Tag.REQUESTS
        and (weighed := disputed.get((subject.fip_id, api.type)))
        else api
        for api in apis
    )


class MatrixCell(Struct, frozen=True):
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


def matrix(calls: "Totals", causes: Sequence[StoredIncident], code: str = "") -> Matrix:
    """Returns the matrix over the calls of each pair, with the causes of its time.

    A cell that is bad by its counts alone has no verdict: a few failures are chance. One that
    is good over the whole time has a verdict when a cause hit it within.
    """
    cells = [
        MatrixCell(
            cell.aa_id,
            cell.fip_id,
            status_of_calls(sums)[0],
            sums.counts[Position.OK_200],
            eligible(sums),
        )
        for cell, sums in calls.by("aa", "fip").items()
    ]
    cells.sort(key=lambda one: (one.aa_id, one.fip_id))
    verdicts = tuple(
        Verdict(cell.aa_id, cell.fip_id, one)
        for one in causes
        for cell in cells
        if explains(one.incident, cell.aa_id, cell.fip_id, code)
    )
    return Matrix(tuple(cells), tuple(causes), verdicts)


_ORDER = [(Tag.REQUESTS, str(code)) for code in RequestType] + [
    (Tag.NOTIFICATIONS, str(code)) for code in NotificationType
]


def _in_order(apis: Mapping[tuple[Tag, str], ApiPicture]) -> tuple[ApiPicture, ...]:
    return tuple(apis[key] for key in _ORDER if key in apis)


def _api(cell: Cell, sums: Rollup) -> ApiPicture:
    tag, code = cell.tag, cell.type
    if tag is Tag.NOTIFICATIONS:
        outcomes = fi_outcomes(sums) if code == NotificationType.FI else None
        return ApiPicture(tag, code, health_of_notifications(sums), None, None, outcomes)
    if code in TIMING_CODES:
        return ApiPicture(tag, code, None, sums.time, None, None)
    size = sums.data_bytes if code == RequestType.FI_FETCH else None
    health = health_of_calls(sums)
    return ApiPicture(tag, code, health, health.time, size, None)
