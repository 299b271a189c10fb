"""The AA x FIP matrix as a table: FIPs down, AAs across, the worst first, empty ones last."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.console.health.labels import mark_of
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import Matrix, MatrixCell
from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.rollup.percentage import percentage, share_of

HEALTH: Final = "/console/operator/health"
MAX_ROWS: Final = 100
"""Rows that are shown at first, the worst of them; a matrix of 2,000 FIPs is megabytes."""


class GridCell(Struct, frozen=True):
    """One pair. `kind` is good, bad, recovered, unsure or none; `mark` is that of the cause."""

    kind: str
    mark: str
    figure: str
    label: str
    path: str


class GridRow(Struct, frozen=True):
    """One FIP with a cell for each AA."""

    fip_id: str
    name: str
    cells: Sequence[GridCell]

    @property
    def is_bad(self) -> bool:
        """Return whether a cause hits it now."""
        return any(cell.kind == "bad" for cell in self.cells)

    @property
    def rank(self) -> int:
        """Its place among the rows: bad, recovered, others, without any calls."""
        kinds = {cell.kind for cell in self.cells}
        if "bad" in kinds:
            return 0
        if "recovered" in kinds:
            return 1
        return 3 if kinds <= {"none"} else 2


class GridSummary(Struct, frozen=True):
    """What a page says of a matrix next to its rows: kept for many, unlike 80,000 cells."""

    aas: Sequence[str]
    rows: int
    first: int
    """The number of rows that are shown at first."""
    bad: int
    """The number of rows that a cause hits now."""
    hit: int
    recovered: int
    pairs: int


class Grid(Struct, frozen=True):
    """The whole matrix."""

    aas: Sequence[str]
    rows: Sequence[GridRow]
    hit: int
    """Pairs that an open cause hits."""
    recovered: int
    """Pairs whose causes of this time are all over."""
    pairs: int

    @property
    def bad_rows(self) -> Sequence[GridRow]:
        """The rows that a cause hits now."""
        return [row for row in self.rows if row.is_bad]

    @property
    def first_rows(self) -> Sequence[GridRow]:
        """The rows that are shown at first: those that a cause hits now, if any; not too many."""
        return (self.bad_rows or self.rows)[:MAX_ROWS]

    def summary(self) -> GridSummary:
        """Return what stays of it once its rows are drawn."""
        first, bad = len(self.first_rows), len(self.bad_rows)
        return GridSummary(
            self.aas, len(self.rows), first, bad, self.hit, self.recovered, self.pairs
        )


def pair_path(aa_id: str, fip_id: str) -> str:
    """Returns the address of the page of a pair."""
    return f"{HEALTH}/pair/{aa_id}/{fip_id}"


def grid_of(
    matrix: Matrix, aas: Collection[str], fips: Collection[str], names: Mapping[str, str]
) -> Grid:
    """Returns the rows of a matrix; `aas` and `fips` appear even without calls."""
    cells = {(cell.aa_id, cell.fip_id): cell for cell in matrix.cells}
    causes: dict[tuple[str, str], list[StoredIncident]] = {}
    for one in matrix.verdicts:
        causes.setdefault((one.aa_id, one.fip_id), []).append(one.cause)
    known = sorted({*aas, *(aa for aa, _ in cells)})
    lines = sorted({*fips, *(fip for _, fip in cells)})
    rows = [
        GridRow(
            fip,
            names.get(fip, fip),
            [_cell(aa, fip, cells.get((aa, fip)), causes.get((aa, fip), ())) for aa in known],
        )
        for fip in lines
    ]
    order = sorted(range(len(known)), key=lambda place: -_bad(row.cells[place] for row in rows))
    rows = [GridRow(row.fip_id, row.name, [row.cells[place] for place in order]) for row in rows]
    rows.sort(key=lambda row: (row.rank, -_bad(row.cells)))  # a stable sort: else by ID
    kinds = [one.kind for row in rows for one in row.cells]
    columns = [known[place] for place in order]
    return Grid(columns, rows, kinds.count("bad"), kinds.count("recovered"), len(cells))


def _bad(cells: Iterable[GridCell]) -> int:
    return sum(cell.kind == "bad" for cell in cells)


def _cell(
    aa_id: str, fip_id: str, cell: MatrixCell | None, causes: Sequence[StoredIncident]
) -> GridCell:
    path = pair_path(aa_id, fip_id)
    pair = f"{aa_id} to {fip_id}"
    if cell is None:
        return GridCell("none", "", "-", f"{pair}: no calls", path)
    share = percentage(share_of(cell.succeeded, cell.eligible), 1)
    counts = f"{cell.succeeded:,} of {cell.eligible:,} calls succeeded"
    figure = "?" if share is None else f"{share:.1f} %"
    result = counts if share is None else f"{figure}: {counts}"  # WCAG 2.5.3
    if causes:
        open_ = [one for one in causes if one.incident.ended is None]
        named = "; ".join(cause_text(one.incident) for one in open_ or causes)
        if not open_:
            over = f"{pair}: recovered, {result} over the whole time; the cause was: {named}"
            return GridCell("recovered", mark_of(causes), figure, over, path)
        if cell.status is not Status.GOOD or any(_is_hit(one, cell) for one in open_):
            bad = f"{pair}: bad, {result}; cause: {named}"
            return GridCell("bad", mark_of(open_), figure, bad, path)
    if cell.status is Status.UNSURE or share is None:
        return GridCell("unsure", "", "?", f"{pair}: not enough data, {counts}", path)
    if cell.status is Status.GOOD:
        return GridCell("good", "", figure, f"{pair}: good, {result}", path)
    return GridCell("unsure", "", figure, f"{pair}: {result}; no cause, may be chance", path)


def _is_hit(one: StoredIncident, cell: MatrixCell) -> bool:
    """Returns whether the evidence of a cause names both ends of the cell, where it names any."""
    cause = one.incident.cause
    return (not cause.affected_aas or cell.aa_id in cause.affected_aas) and (
        not cause.affected_fips or cell.fip_id in cause.affected_fips
    )
