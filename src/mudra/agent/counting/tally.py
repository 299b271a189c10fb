"""Counts, times and sizes of one type of calls at one FIP in one window."""

from array import array
from bisect import bisect_left
from collections import Counter
from itertools import accumulate
from typing import Final

import msgspec
from hdrh.histogram import HdrHistogram

from mudra.metrics.payload.catalogue import COUNTS, PERCENTS, STATUSES, Position, position_of_status
from mudra.metrics.payload.report import Percentiles

MAX_EXACT: Final = 1_024
"""Up to so many times are stored exactly; beyond it, in a histogram within 1 %."""
MAX_LENGTH: Final = 7 * 24 * 3_600 * 1_000
_DIGITS: Final = 2
_COUNTER_BYTES: Final = (
    4  # bytes a counter: half the memory of the default, and 4 billion calls are enough
)

POSITIONS: Final = {
    status: position
    for status in range(600)
    if (position := position_of_status(status)) is not None
}


class TimesState(msgspec.Struct, array_like=True, frozen=True):
    """Times as stored in a snapshot."""

    exact: bytes
    histogram: bytes
    longest: int


class TallyState(msgspec.Struct, array_like=True, frozen=True):
    """A tally as stored in a snapshot."""

    counts: list[int]
    times: TimesState | None
    size: int
    statuses: list[int] | None


class Times:
    """Durations in milliseconds: percentiles within 1 %, the longest exact."""

    __slots__ = ("_exact", "_histogram", "longest")

    def __init__(self) -> None:
        self._exact = array("I")
        self._histogram: HdrHistogram | None = None
        self.longest = 0

    def add(self, milliseconds: int) -> None:
        """Add one duration; below 0 counts as 0, above a week as a week."""
        value = min(max(milliseconds, 0), MAX_LENGTH)
        self.longest = max(self.longest, value)
        self._exact.append(value)
        if len(self._exact) >= MAX_EXACT:
            self._fold()

    def percentiles(self) -> Percentiles:
        """Return p50, p95, p99 and p100 by nearest rank; zeros when nothing was answered."""
        if self._histogram is None:
            values = sorted(self._exact)
            count = len(values)
            if not count:
                return (0, 0, 0, 0)
            p50, p95, p99, p100 = (values[_rank(percent, count) - 1] for percent in PERCENTS)
            return p50, p95, p99, p100
        self._fold()
        histogram = self._histogram
        running = list(accumulate(histogram.counts))
        count = running[-1]
        p50, p95, p99 = (
            min(
                _highest(histogram, bisect_left(running, _rank(percent, count))),
                self.longest,
            )
            for percent in PERCENTS[:3]
        )
        return p50, p95, p99, self.longest

    def _fold(self) -> None:
        if self._histogram is None:
            self._histogram = HdrHistogram(1, MAX_LENGTH, _DIGITS, word_size=_COUNTER_BYTES)
        for value, count in Counter(self._exact).items():
            self._histogram.record_value(value, count)
        self._exact = array("I")

    def state(self) -> TimesState:
        """Return what a snapshot stores."""
        packed = b"" if self._histogram is None else self._histogram.encode()
        return TimesState(self._exact.tobytes(), packed, self.longest)

    @classmethod
    def restored(cls, state: TimesState) -> "Times":
        """Restore times from a snapshot."""
        times = cls()
        times._exact.frombytes(state.exact)
        times.longest = state.longest
        if state.histogram:
            times._histogram = HdrHistogram(1, MAX_LENGTH, _DIGITS, word_size=_COUNTER_BYTES)
            times._histogram.add(HdrHistogram.decode(state.histogram))
        return times


class Tally:
    """The counts of one block of a payload."""

    __slots__ = ("counts", "size", "statuses", "times")

    def __init__(self, *, statuses: bool = False) -> None:
        self.counts = [0] * COUNTS
        self.times: Times | None = None
        self.size = 0
        self.statuses = [0] * STATUSES if statuses else None

    def started(self) -> None:
        """Count one more call."""
        self.counts[Position.TOTAL] += 1

    def answered(self, status: int, duration: int, *, timed: bool) -> None:
        """Count one more answer, after so many milliseconds."""
        position = POSITIONS.get(status)
        if position is not None:
            self.counts[position] += 1
        if timed:
            if self.times is None:
                self.times = Times()
            self.times.add(duration)

    def state(self) -> TallyState:
        """Return what a snapshot stores."""
        times = None if self.times is None else self.times.state()
        statuses = None if self.statuses is None else list(self.statuses)
        return TallyState(list(self.counts), times, self.size, statuses)

    @classmethod
    def restored(cls, state: TallyState) -> "Tally":
        """Restore a tally from a snapshot."""
        tally = cls()
        tally.counts = list(state.counts)
        tally.times = None if state.times is None else Times.restored(state.times)
        tally.size = state.size
        tally.statuses = None if state.statuses is None else list(state.statuses)
        return tally


def _rank(percent: int, count: int) -> int:
    """Return the nearest rank, from 1: of the least value that this share does not exceed."""
    return max(1, -(-percent * count // 100))


def _highest(histogram: HdrHistogram, index: int) -> int:
    value: int = histogram.get_highest_equivalent_value(histogram.get_value_from_index(index))
    return value
