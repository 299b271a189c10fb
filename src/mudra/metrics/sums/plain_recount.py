"""The sums of blocks in plain Python loops: the one other implementation, to check `added` by.

It shares no code with it. Response times are not recounted: their sums are estimates.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from typing import Final, TypeVar

from msgspec import UNSET, Struct

from mudra.metrics.payload.catalogue import COUNTS, PERCENTS, STATUSES
from mudra.metrics.payload.report import Block, RequestBlock
from mudra.metrics.sums.cells import SUMS, Cells

_LIMIT_MS: Final = 5000
_ADDED: Final = SUMS[:-1]
"""All but the estimate of late calls."""
K = TypeVar("K", bound=Hashable)


class PlainSums(Struct):
    """The exact sums of blocks; see `Rollup` and `Late`."""

    blocks: int
    counts: list[int]
    statuses: list[int]
    data_bytes: int
    longest: int
    late_lower: int
    late_upper: int


def plain_recount(blocks: Iterable[tuple[K, Block]]) -> dict[K, PlainSums]:
    """Returns the sums of the blocks of each key."""
    found: dict[K, PlainSums] = defaultdict(_nothing)
    for key, block in blocks:
        _add(found[key], block)
    return {**found}


def plain_added(parts: Iterable[tuple[K, PlainSums]]) -> dict[K, PlainSums]:
    """Returns the sums of the sums of each key."""
    found: dict[K, PlainSums] = defaultdict(_nothing)
    for key, part in parts:
        sums = found[key]
        sums.blocks += part.blocks
        for place, calls in enumerate(part.counts):
            sums.counts[place] += calls
        for place, requests in enumerate(part.statuses):
            sums.statuses[place] += requests
        sums.data_bytes += part.data_bytes
        sums.longest = max(sums.longest, part.longest)
        sums.late_lower += part.late_lower
        sums.late_upper += part.late_upper
    return {**found}


class PlainColumns:
    """The sums of sums by time and type, column after column: a tenth of the cost of rows."""

    def __init__(self) -> None:
        self._sums: dict[str, dict[tuple[int, int], int]] = {
            name: defaultdict(int) for name in SUMS
        }
        self._longest: dict[tuple[int, int], int] = defaultdict(int)

    def add(self, cells: Cells) -> None:
        """Adds sums; those of sums are exact, also of the calls that are late by estimate."""
        keys = [*zip(cells.keys["at"].tolist(), cells.keys["type"].tolist(), strict=True)]
        for name, column in cells.sums.items():
            total = self._sums[name]
            for key, number in zip(keys, column.tolist(), strict=True):
                if number:
                    total[key] += number
        for key, time in zip(keys, cells.longest.tolist(), strict=True):
            self._longest[key] = max(self._longest[key], time)

    def rows(self) -> dict[tuple[int, int], list[int]]:
        """Returns the sums of each time and type, and the longest time."""
        return {
            key: [*(self._sums[name].get(key, 0) for name in SUMS), longest]
            for key, longest in self._longest.items()
        }


def _nothing() -> PlainSums:
    return PlainSums(0, [0] * COUNTS, [0] * STATUSES, 0, 0, 0, 0)


def _add(sums: PlainSums, block: Block) -> None:
    sums.blocks += 1
    for place, calls in enumerate(block.counts):
        sums.counts[place] += calls
    if isinstance(block, RequestBlock):
        sums.data_bytes += int(block.counted_size or "0")
        _add_times(sums, sum(block.counts[1:]), block.pxx)
    elif block.status is not UNSET:
        for place, requests in enumerate(block.status):
            sums.statuses[place] += requests


def _add_times(sums: PlainSums, answered: int, pxx: tuple[int, int, int, int]) -> None:
    if not answered:
        return
    points = _points(answered, pxx)
    soon, perhaps_soon = 0, answered
    for place, (rank, time) in enumerate(points):
        error = 0
        if place + 1 < len(points):  # a point is trusted to one rank, if that is over 1 %
            next_rank, next_time = points[place + 1]
            between = next_rank - rank
            error = (next_time - time + between - 1) // between
            if error * 100 <= time:
                error = 0
        if time + error < _LIMIT_MS:
            soon = rank
        if time - error >= _LIMIT_MS:
            perhaps_soon = min(perhaps_soon, rank - 1)
    sums.longest = max(sums.longest, pxx[-1])
    sums.late_lower += answered - perhaps_soon
    sums.late_upper += answered - soon


def _points(answered: int, pxx: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """Returns the distinct ranks, each with its time: the last one took p100."""
    found: list[tuple[int, int]] = []
    for percent, time in zip(PERCENTS, pxx, strict=True):
        rank = (answered * percent + 99) // 100
        if not found or found[-1][0] < rank:
            found.append((rank, pxx[-1] if rank == answered else time))
    return found


def plain_rows(sums: Cells) -> list[PlainSums]:
    """Returns what was added up, to compare: one for each row."""
    columns = [sums.of(name).tolist() for name in _ADDED]
    return [
        PlainSums(
            row[0],
            [*row[1 : 1 + COUNTS]],
            [*row[1 + COUNTS : 1 + COUNTS + STATUSES]],
            row[-3],
            longest,
            *row[-2:],
        )
        for longest, *row in zip(sums.longest.tolist(), *columns, strict=True)
    ]
