"""The AA x FIP matrix as a table: FIPs down, AAs across, the worst first, empty ones last."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.console.health.labels import mark_of
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import CellDetails, Matrix
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


class _Pair(Struct, frozen=True, gc=False):
    """The calls of an AA to the FIP of a row; None without any."""

    aa_id: str
    calls: CellDetails | None
    causes: Sequence[StoredIncident]


class _Named(Struct, frozen=True):
    """The AAs and FIPs that the evidence of a cause names; none for all."""

    aas: frozenset[str]
    fips: frozenset[str]

    def hits(self, cell: CellDetails) -> bool:
        """Return whether it names both ends of the cell, where it names any."""
        return (not self.aas or cell.aa_id in self.aas) and (
            not self.fips or cell.fip_id in self.fips
        )


class GridRow(Struct, frozen=True):
    """One FIP; `kinds` has the kind of its cell for each AA."""

    fip_id: str
    name: str
    kinds: Sequence[str]
    pairs: Sequence[_Pair]

    @property
    def cells(self) -> Sequence[GridCell]:
        """The cell for each AA: made when the row is shown, as most rows of a nation are not."""
        pairs = zip(self.kinds, self.pairs, strict=True)
        return [_cell(kind, self.fip_id, pair) for kind, pair in pairs]

    @property
    def is_bad(self) -> bool:
        """Return whether a cause hits it now."""
        return "bad" in self.kinds

    @property
    def rank(self) -> int:
        """Its place among the rows: bad, recovered, others, without any calls."""
        if self.is_bad:
            return 0
        if "recovered" in self.kinds:
            return 1
        return 3 if {*self.kinds} <= {"none"} else 2


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
    calls: dict[str, dict[str, CellDetails]] = {}
    for cell in matrix.cells:
        calls.setdefault(cell.fip_id, {})[cell.aa_id] = cell
    causes: dict[tuple[str, str], list[StoredIncident]] = {}
    for one in matrix.verdicts:
        causes.setdefault((one.aa_id, one.fip_id), []).append(one.cause)
    known = sorted({*aas, *(aa for of_fip in calls.values() for aa in of_fip)})
    pairs = {
        fip: [_Pair(aa, calls.get(fip, {}).get(aa), causes.get((aa, fip), ())) for aa in known]
        for fip in sorted({*fips, *calls})
    }
    named = {one.incident_id: _named(one) for one in matrix.causes}
    kinds = {fip: [_kind(pair, named) for pair in of_fip] for fip, of_fip in pairs.items()}
    order = sorted(
        range(len(known)), key=lambda at: -sum(row[at] == "bad" for row in kinds.values())
    )
    rows = [
        GridRow(
            fip,
            names.get(fip, fip),
            [kinds[fip][place] for place in order],
            [of_fip[place] for place in order],
        )
        for fip, of_fip in pairs.items()
    ]
    rows.sort(key=lambda row: (row.rank, -row.kinds.count("bad")))  # a stable sort: else by ID
    hit, recovered = (sum(row.kinds.count(kind) for row in rows) for kind in ("bad", "recovered"))
    return Grid([known[place] for place in order], rows, hit, recovered, len(matrix.cells))


def _kind(pair: _Pair, named: Mapping[str, _Named]) -> str:
    calls = pair.calls
    if calls is None:
        return "none"
    if pair.causes:
        open_ = _open(pair)
        if not open_:
            return "recovered"
        if calls.status is not Status.GOOD or any(
            named[one.incident_id].hits(calls) for one in open_
        ):
            return "bad"
    return "good" if calls.status is Status.GOOD else "unsure"


def _cell(kind: str, fip_id: str, pair: _Pair) -> GridCell:
    path, calls = pair_path(pair.aa_id, fip_id), pair.calls
    ends = f"{pair.aa_id} to {fip_id}"
    if calls is None:
        return GridCell(kind, "", "-", f"{ends}: no calls", path)
    share = percentage(share_of(calls.succeeded, calls.eligible), 1)
    counts = f"{calls.succeeded:,} of {calls.eligible:,} calls succeeded"
    figure = "?" if share is None else f"{share:.1f} %"
    result = counts if share is None else f"{figure}: {counts}"  # WCAG 2.5.3
    causes = _open(pair) if kind == "bad" else pair.causes
    reasons = "; ".join(cause_text(one.incident) for one in causes)
    if kind == "recovered":
        over = f"{ends}: recovered, {result} over the whole time; the cause was: {reasons}"
        return GridCell(kind, mark_of(causes), figure, over, path)
    if kind == "bad":
        bad = f"{ends}: bad, {result}; cause: {reasons}"
        return GridCell(kind, mark_of(causes), figure, bad, path)
    if calls.status is Status.UNSURE:
        return GridCell(kind, "", "?", f"{ends}: not enough data, {counts}", path)
    if kind == "good":
        return GridCell(kind, "", figure, f"{ends}: good, {result}", path)
    return GridCell(kind, "", figure, f"{ends}: {result}; no cause, may be chance", path)


def _open(pair: _Pair) -> Sequence[StoredIncident]:
    return [one for one in pair.causes if one.incident.ended is None]


def _named(one: StoredIncident) -> _Named:
    cause = one.incident.cause
    return _Named(frozenset(cause.affected_aas), frozenset(cause.affected_fips))
