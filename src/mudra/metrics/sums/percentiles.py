"""Percentiles of sums: estimates, from the estimated times of all calls together.

They are no bounds: docs/explanation/percentiles.md shows their measured error.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from mudra.metrics.payload.catalogue import PERCENTS
from mudra.metrics.sums.block_times import first_of
from mudra.metrics.sums.cells import POINTS, Array, Cells, Rises, wide

_SAFE: Final = 2**62


def percentile(cells: Cells, percent: int | Array) -> Array:
    """Returns this percentile (nearest rank) of each row in milliseconds; -1 without answers.

    Of sums with response times. The calls of one cell of time are spread evenly in it, and none
    took longer than the longest.
    """
    assert cells.rises is not None, "these sums were read without response times"
    width, place, calls = cells.rises
    if not len(place):
        return np.full(len(cells), -1)
    until = np.cumsum(calls)
    before = _before(width, until)
    samples = np.diff(before)
    hundreds, rest = samples // 100, samples % 100  # no product of all samples: it may overflow
    wanted = before[:-1] + hundreds * percent - (-rest * percent // 100)
    at = np.minimum(np.searchsorted(until, wanted), len(place) - 1)
    found = _within(place[at], calls[at], wanted - (until[at] - calls[at]))
    return np.where(samples > 0, np.minimum(found, cells.longest), -1).astype(np.int64)


def percentiles_of(asked: Sequence[tuple[Mapping[int, int], int, int]]) -> list[int | None]:
    """Returns the same of each of these: calls by cell of time, percent, longest time.

    None without calls.
    """
    calls = [sorted(one.items()) for one, _, _ in asked]
    every = [pair for one in calls for pair in one]
    exact = np.int64 if sum(number for _, number in every) <= _SAFE else object
    width = np.array([len(one) for one in calls], np.int64)
    place = np.array([place for place, _ in every], np.int64)
    rises = Rises(width, place, np.array([number for _, number in every], exact))
    percents = np.array([percent for _, percent, _ in asked], np.int64)
    longest = np.array([longest for _, _, longest in asked], np.int64)
    found = percentile(Cells({}, {}, longest, None, rises), percents).tolist()
    return [None if one < 0 else one for one in found]


def points_of(cells: Cells) -> list[Array]:
    """Returns p50, p95, p99 and p100 of each row in milliseconds; no times without answers.

    Those of single blocks are as reported, those of sums estimates and the longest.
    """
    if cells.points is not None:
        return [cells.points[name] for name in POINTS]
    return [*(percentile(cells, percent) for percent in PERCENTS[:-1]), cells.longest]


def samples_of(cells: Cells) -> Array:
    """Returns the number of calls of each row whose times are known: all that were answered."""
    assert cells.rises is not None, "these sums were read without response times"
    return np.diff(_before(cells.rises.width, np.cumsum(cells.rises.calls)))


def _before(width: Array, until: Array) -> Array:
    """Returns the calls before each row, and the calls of all rows at last."""
    edges = np.concatenate((np.zeros(1, np.int64), np.cumsum(width)))
    found: Array = np.concatenate((np.zeros(1, until.dtype), until))[edges]
    return found


def _within(place: Array, calls: Array, number: Array) -> Array:
    """Returns the time of the call of this number, from 1, of those in a cell of time."""
    first, after = first_of(place), first_of(place + 1)
    width = after - first
    if int(calls.max()) * 2 * int(width.max()) > _SAFE:
        width, calls, number = wide(width), wide(calls), wide(number)
    rest: Array = (2 * number - 1) * width // (2 * calls)
    return first + rest
