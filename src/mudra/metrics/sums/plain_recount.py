"""The sums of blocks in plain Python loops: the one other implementation, to check `added` by.

It shares no code with it. Response times are not recounted: their sums are estimates.
"""

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
    """What adds up exactly, of blocks; see `Rollup` and `Late`."""

    blocks: int
    counts: list[int]
    statuses: list[int]
    data_bytes: int
    longest: int
    late_lower: int
    late_upper: int


def plain_recount(blocks: Iterable[tuple[K, Block]]) -> dict[K, PlainSums]:
    """Returns the sums of the blocks of each key."""
    found: dict[K, PlainSums] = {}
    for key, block in blocks:
        if key not in found:
            found[key] = PlainSums(0, [0] * COUNTS, [0] * STATUSES, 0, 0, 0, 0)
        _add(found[key], block)
    return found


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
