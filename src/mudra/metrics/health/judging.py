"""GOOD, BAD or UNSURE by the network's rule, for columns of sums: its only place.

It holds for the calls of AAs and for the notifications that they receive: these have no times, so
none is late.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT, ErrorDetails, FiOutcomes, Health, Status
from mudra.metrics.payload.catalogue import FIRST_4XX, FIRST_5XX, Position, StatusPosition
from mudra.metrics.rollup.percentage import share_of
from mudra.metrics.sums.cells import COUNTS, LATE, STATUSES, Array, Cells, Flags, across, wide
from mudra.metrics.sums.totals import Totals

_TOTAL: Final = COUNTS[Position.TOTAL]
_OK: Final = COUNTS[Position.OK_200]
_404: Final = COUNTS[Position.NOT_FOUND_404]
_4XX: Final = COUNTS[FIRST_4XX:FIRST_5XX]
_5XX: Final = COUNTS[FIRST_5XX:]
LARGE: Final = 2**50
"""Larger counts are multiplied as numbers of any length."""
_STATUSES: Final = np.array([Status.GOOD, Status.BAD, Status.UNSURE], object)
_GOOD, _BAD, _UNSURE = range(len(_STATUSES))


class Judged(NamedTuple):
    """The status of each row, and whether it holds for every p50 that the reports allow."""

    status: Array
    """Equal numbers for equal statuses."""
    certain: Flags


def eligible(cells: Cells) -> Array:
    """Returns the calls in the denominator of success of each row: all but 4xx."""
    return cells.of(_TOTAL) - _sum(cells, _4XX)


def succeeded(cells: Cells) -> Array:
    """Returns the calls of each row that succeeded."""
    return cells.of(_OK)


def judged(cells: Cells) -> Judged:
    """Returns the status of each row of sums.

    The median is below the limit if half of the answered calls are, rounded up. How many are is
    certain within two bounds that add up exactly, so the median of any sum is known that well.
    """
    calls, answered, good = eligible(cells), cells.answered(), succeeded(cells)
    lower, upper, estimate = (cells.of(name) for name in LATE)
    if max(int(column.max(initial=0)) for column in (calls, good)) > LARGE:
        calls, good = wide(calls), wide(good)
    # Whole numbers: 19 of 20 is exactly 95 % and not above it.
    in_time = (good * 100 > calls * GOOD_ABOVE_PERCENT) & (answered > 0)
    most = answered // 2
    of_calls = np.where(in_time & (estimate <= most), _GOOD, _BAD)
    certain = ~in_time.astype(np.bool_) | (upper <= most) | (lower > most)
    status = np.where(calls == 0, _UNSURE, of_calls)
    return Judged(status, certain.astype(np.bool_) | (calls == 0).astype(np.bool_))


def certainly_good(cells: Cells) -> Flags:
    """Returns which sums are certainly GOOD, and so is every sum of such: each term adds up."""
    status, certain = judged(cells)
    good: Flags = (status == _GOOD) & certain
    return good


def good(cells: Cells) -> Flags:
    """Returns which sums are GOOD, certainly or by estimate."""
    found: Flags = judged(cells).status == _GOOD
    return found


def statuses(found: Judged) -> list[Status]:
    """Returns the statuses of the rows, in their order."""
    named: list[Status] = _STATUSES[found.status].tolist()
    return named


def shares(part: Array, whole: Array) -> list[float | None]:
    """Returns the share of each row, from 0 to 1; None of nothing."""
    return [*map(share_of, part.tolist(), whole.tolist())]


def health_of(totals: Totals) -> list[Health]:
    """Returns the health of each row, in their order; of the two timings only times are true."""
    sums = totals.sums
    calls, good, found = eligible(sums), succeeded(sums), judged(sums)
    return [
        *map(
            Health,
            sums.of(_TOTAL).tolist(),
            good.tolist(),
            calls.tolist(),
            shares(good, calls),
            _errors(sums),
            statuses(found),
            found.certain.tolist(),
            totals.times(),
        )
    ]


def outcomes_of(cells: Cells) -> list[FiOutcomes]:
    """Returns the outcomes of FI requests of each row; success is the share of ended with data."""
    columns = [cells.of(name) for name in STATUSES]
    good, failed = columns[StatusPosition.SUCCEEDED], columns[StatusPosition.FAILED]
    success = shares(good, good + failed)
    return [*map(FiOutcomes, *(column.tolist() for column in columns), success)]


def _errors(cells: Cells) -> list[ErrorDetails]:
    """Returns errors by class; "no answer" is the total less all responses."""
    missing = cells.of(_404)
    columns = (
        missing,
        _sum(cells, _4XX) - missing,
        _sum(cells, _5XX),
        cells.of(_TOTAL) - cells.answered(),
    )
    return [*map(ErrorDetails, *(column.tolist() for column in columns))]


def _sum(cells: Cells, names: tuple[str, ...]) -> Array:
    return across([cells.of(name) for name in names if name in cells.sums], len(cells))


class FipFigures(Struct, frozen=True, gc=False):
    """The calls of all AAs to one API of one FIP."""

    fip_id: str
    api: str
    requests: int
    success: float | None
    """A share from 0 to 1, 4xx left out; None without a denominator."""
    p50_s: float | None
    """The estimated median response time in seconds; None without a response."""


def figures_of(totals: Totals) -> Iterator[FipFigures]:
    """Yields the figures of sums of calls over all AAs."""
    for fip_id, code, health in zip(
        totals.fip_ids(), totals.codes(), health_of(totals), strict=True
    ):
        p50_s = None if health.time is None else health.time.p50 / 1000
        yield FipFigures(fip_id, code, health.total, health.success, p50_s)
