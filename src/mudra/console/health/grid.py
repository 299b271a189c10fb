"""The AA x FIP matrix as a table: FIPs down, AAs across, failing FIPs first."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.console.health.labels import BLAME_MARKS, BLAMED
from mudra.metrics.health.attribution import MatrixCell, Verdict
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import Matrix
from mudra.metrics.rollup.percentage import percentage

HEALTH: Final = "/console/operator/health"


class GridCell(Struct, frozen=True):
    """One pair. `kind` is good, bad, unsure or none; `mark` is the mark of the likely cause."""

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


class Grid(Struct, frozen=True):
    """The whole matrix."""

    aas: Sequence[str]
    rows: Sequence[GridRow]
    bad: int
    pairs: int


def pair_path(aa_id: str, fip_id: str) -> str:
    """Returns the address of the page of a pair."""
    return f"{HEALTH}/pair/{aa_id}/{fip_id}"


def grid_of(
    matrix: Matrix, aas: Collection[str], fips: Collection[str], names: Mapping[str, str]
) -> Grid:
    """Returns the rows of a matrix; `aas` and `fips` appear even without calls."""
    cells = {(cell.aa_id, cell.fip_id): cell for cell in matrix.cells}
    verdicts = {(one.cell.aa_id, one.cell.fip_id): one for one in matrix.verdicts}
    columns = sorted({*aas, *(aa for aa, _ in cells)})
    lines = sorted({*fips, *(fip for _, fip in cells)})
    failing = {fip for _, fip in verdicts}
    lines.sort(key=lambda fip: fip not in failing)  # a stable sort: else by ID
    rows = [
        GridRow(
            fip,
            names.get(fip, fip),
            [_cell(aa, fip, cells.get((aa, fip)), verdicts.get((aa, fip))) for aa in columns],
        )
        for fip in lines
    ]
    return Grid(columns, rows, len(verdicts), len(cells))


def _cell(aa_id: str, fip_id: str, cell: MatrixCell | None, verdict: Verdict | None) -> GridCell:
    path = pair_path(aa_id, fip_id)
    pair = f"{aa_id} to {fip_id}"
    if cell is None:
        return GridCell("none", "", "-", f"{pair}: no calls", path)
    share = percentage(cell.succeeded / cell.judged, 1) if cell.judged else None
    counts = f"{cell.succeeded:,} of {cell.judged:,} calls succeeded"
    if cell.status is Status.UNSURE or share is None:
        return GridCell("unsure", "", "?", f"{pair}: not enough data, {counts}", path)
    figure = f"{share:.1f} %"
    if verdict is None:
        return GridCell("good", "", figure, f"{pair}: good, {counts}", path)
    label = f"{pair}: bad, {counts}; {BLAMED[verdict.blame]}"
    return GridCell("bad", BLAME_MARKS[verdict.blame], figure, label, path)
