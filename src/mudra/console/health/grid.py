"""The AA x FIP matrix as a table: FIPs down, AAs across, FIPs with a cause first."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.console.health.labels import mark_of
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import Matrix, MatrixCell
from mudra.metrics.incidents.explanation import cause_text
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.rollup.percentage import percentage, share_of

HEALTH: Final = "/console/operator/health"


class GridCell(Struct, frozen=True):
    """One pair. `kind` is good, bad, unsure or none; `mark` is that of the cause."""

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
    hit: int
    """Pairs that a cause explains."""
    pairs: int


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
    columns = sorted({*aas, *(aa for aa, _ in cells)})
    lines = sorted({*fips, *(fip for _, fip in cells)})
    hit = {fip for _, fip in causes}
    lines.sort(key=lambda fip: fip not in hit)  # a stable sort: else by ID
    rows = [
        GridRow(
            fip,
            names.get(fip, fip),
            [_cell(aa, fip, cells.get((aa, fip)), causes.get((aa, fip), ())) for aa in columns],
        )
        for fip in lines
    ]
    return Grid(columns, rows, len(causes), len(cells))


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
    mark = mark_of(causes)
    named = "; ".join(cause_text(one.incident) for one in causes)
    within = f"; in this time: {named}" if causes else ""
    if cell.status is Status.UNSURE or share is None:
        return GridCell("unsure", mark, "?", f"{pair}: not enough data, {counts}{within}", path)
    if cell.status is Status.GOOD:
        return GridCell("good", mark, figure, f"{pair}: good, {counts}{within}", path)
    if causes:
        return GridCell("bad", mark, figure, f"{pair}: bad, {counts}; cause: {named}", path)
    return GridCell("unsure", "", figure, f"{pair}: {counts}; no cause, may be chance", path)
