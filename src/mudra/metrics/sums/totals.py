"""The sums that answer a question: columns, and a row for each cell where one is asked for."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import repeat
from typing import Final

import numpy as np

from mudra.metrics.payload.catalogue import Tag, window_at
from mudra.metrics.sums.adding import added, summed_blocks
from mudra.metrics.sums.cells import COUNTS, IS_REQUEST, LATE, STATUSES, TYPES, Cells
from mudra.metrics.sums.percentiles import points_of, samples_of
from mudra.metrics.sums.rollup import NONE_LATE, Cell, Late, ResponseTime, Rollup

_TAGS: Final = (
    Tag.REQUESTS,
    *(Tag.REQUESTS if is_request else Tag.NOTIFICATIONS for is_request in IS_REQUEST[1:]),
)


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
            for place, code in enumerate(TYPES)
            if _TAGS[place] is tag and (not codes or code in codes)
        ]
        return Totals(self.cells.chosen(np.isin(self.cells.keys["type"], wanted)), self.ids)

    @property
    def sums(self) -> Cells:
        """Returns the columns as sums: single blocks as sums of one block, without times."""
        single = self.cells.points is not None
        return summed_blocks(self.cells, times=False) if single else self.cells

    def aa_ids(self) -> list[str]:
        """Returns the AA of each row; empty for all."""
        return self._named("aa")

    def fip_ids(self) -> list[str]:
        """Returns the FIP of each row; empty for all."""
        return self._named("fip")

    def tags(self) -> list[Tag]:
        """Returns the tag of each row."""
        return [_TAGS[place] for place in self.cells.keys["type"].tolist()]

    def codes(self) -> list[str]:
        """Returns the type of each row; empty for all types of request."""
        return [TYPES[place] for place in self.cells.keys["type"].tolist()]

    def starts(self) -> list[datetime]:
        """Returns the time of each row."""
        return [window_at(at) for at in self.cells.keys["at"].tolist()]

    def items(self) -> Iterator[tuple[Cell, Rollup]]:
        """Yields each cell with its sums, in the order of the columns."""
        cells = map(Cell, self.aa_ids(), self.fip_ids(), self.tags(), self.codes())
        return zip(cells, self.rows(), strict=True)

    def rows(self) -> Iterator[Rollup]:
        """Yields the sums, in the order of the columns."""
        sums = self.sums
        return map(
            Rollup,
            _values(sums, "blocks"),
            _tuples(sums, COUNTS),
            _tuples(sums, STATUSES),
            _values(sums, "size"),
            _late(sums),
            self.times(),
        )

    def times(self) -> list[ResponseTime | None]:
        """Returns the response times of each row; None where none are known."""
        cells = self.cells
        reported = cells.points is not None
        if cells.rises is None and not reported:
            return [None] * len(cells)
        answered = cells.answered() if reported else samples_of(cells)
        samples = np.where(IS_REQUEST[cells.keys["type"]], answered, 0) if reported else answered
        columns = [column.tolist() for column in (samples, *points_of(cells))]
        found = map(ResponseTime, *columns, repeat(reported))
        return [one if number else None for number, one in zip(columns[0], found, strict=True)]

    def _named(self, key: str) -> list[str]:
        return [*map(self.ids.__getitem__, self.cells.keys[key].tolist())]


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
