"""The sums that answer a question: columns, and a row for each cell where one is asked for."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Final

import numpy as np

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.sums.adding import added, summed_blocks
from mudra.metrics.sums.cells import (
    COUNTS,
    LATE,
    REQUESTS,
    STATUSES,
    TYPES,
    Array,
    Cells,
)
from mudra.metrics.sums.percentiles import points_of, samples_of
from mudra.metrics.sums.rollup import NONE_LATE, Cell, Late, ResponseTime, Rollup

_TAGS: Final = (
    *(Tag.REQUESTS if place < REQUESTS else Tag.NOTIFICATIONS for place in range(len(TYPES))),
    Tag.REQUESTS,
)
_CODES: Final = (*TYPES, "")


class Totals:
    """The sums of cells, or the single blocks of reports, by the keys that were asked for."""

    def __init__(self, cells: Cells, ids: Sequence[str]) -> None:
        self.cells = cells
        self.ids = ids
        """Of the `Names` by which the cells are numbered."""

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def are_reports(self) -> bool:
        """Returns whether the rows are blocks of one window: no two are of one AA, FIP and type."""
        at = self.cells.keys["at"]
        return self.cells.points is not None and bool((at == at[:1]).all())

    def by(self, *keys: str) -> "Totals":
        """Returns the sums by some of `KEYS`; by none, all in one row (no row of no row)."""
        return Totals(added([self.cells], keys), self.ids)

    def only(self, tag: Tag, codes: Collection[str] = ()) -> "Totals":
        """Returns the rows of a tag: of all its types, or of these."""
        wanted = [
            place
            for place, code in enumerate(_CODES)
            if _TAGS[place] is tag and (not codes or code in codes)
        ]
        return Totals(self.cells.chosen(np.isin(self.cells.keys["type"], wanted)), self.ids)

    def items(self) -> Iterator[tuple[Cell, Rollup]]:
        """Yields each cell with its sums, in the order of the columns."""
        ids, keys = self.ids, self.cells.keys
        names = zip(keys["aa"].tolist(), keys["fip"].tolist(), keys["type"].tolist(), strict=True)
        for (aa, fip, place), row in zip(names, self.rows(), strict=True):
            yield Cell(ids[aa], ids[fip], _TAGS[place], _CODES[place]), row

    def steps(self) -> Iterator[tuple[int, Rollup]]:
        """Yields the time of each row, in ten-minute windows since 1970, with its sums."""
        yield from zip(self.cells.keys["at"].tolist(), self.rows(), strict=True)

    def rows(self) -> Iterator[Rollup]:
        """Yields the sums, in the order of the columns."""
        single = self.cells.points is not None
        sums = summed_blocks(self.cells, times=False) if single else self.cells
        return map(
            Rollup,
            _values(sums, "blocks"),
            _tuples(sums, COUNTS),
            _tuples(sums, STATUSES),
            _values(sums, "size"),
            _late(sums),
            _reported_times(self.cells) if single else _estimated_times(sums),
        )


def _tuples(cells: Cells, names: Sequence[str]) -> Iterable[tuple[int, ...]]:
    columns = [_values(cells, name) for name in names]
    return zip(*columns, strict=False)  # a column of zeros has no end of its own


def _values(cells: Cells, name: str) -> Iterable[int]:
    found = cells.sums.get(name)
    return repeat(0, len(cells)) if found is None else found.tolist()


def _late(cells: Cells) -> Iterable[Late]:
    if not any(name in cells.sums for name in LATE):
        return repeat(NONE_LATE, len(cells))
    return map(Late, *(_values(cells, name) for name in LATE))


def _reported_times(blocks: Cells) -> Iterable[ResponseTime | None]:
    samples = np.where(blocks.keys["type"] < REQUESTS, blocks.answered(), 0)
    return _times(samples, points_of(blocks), reported=True)


def _estimated_times(sums: Cells) -> Iterable[ResponseTime | None]:
    if sums.rises is None:
        return repeat(None, len(sums))
    return _times(samples_of(sums), points_of(sums), reported=False)


def _times(
    samples: Array, points: Sequence[Array], *, reported: bool
) -> Iterator[ResponseTime | None]:
    rows = zip(samples.tolist(), *(column.tolist() for column in points), strict=True)
    for number, p50, p95, p99, p100 in rows:
        yield ResponseTime(number, p50, p95, p99, p100, reported) if number else None
