"""The AA x FIP matrix: FIPs and AAs in order, the worst first, empty ones last."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import CellDetails, Matrix
from mudra.metrics.incidents.incident import StoredIncident

HEALTH: Final = "/console/operator/health"


class Pair(Struct, frozen=True, gc=False):
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
    pairs: Sequence[Pair]

    @property
    def both(self) -> Sequence[tuple[str, Pair]]:
        """The kind of each cell, with its pair."""
        return list(zip(self.kinds, self.pairs, strict=True))

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


class Grid(Struct, frozen=True):
    """The whole matrix."""

    aas: Sequence[str]
    rows: Sequence[GridRow]
    hit: int
    """Pairs that an open cause hits."""
    recovered: int
    """Pairs whose causes of this time are all over."""
    pairs: int
    names: Mapping[str, str]
    succeeded: int
    eligible: int

    @property
    def bad_rows(self) -> Sequence[GridRow]:
        """The rows that a cause hits now."""
        return [row for row in self.rows if row.is_bad]


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
        fip: [Pair(aa, calls.get(fip, {}).get(aa), causes.get((aa, fip), ())) for aa in known]
        for fip in sorted({*fips, *calls})
    }
    named = {one.incident_id: _named(one) for one in matrix.causes}
    kinds = {fip: [_kind(pair, named) for pair in of_fip] for fip, of_fip in pairs.items()}
    rank = sorted(pairs, key=lambda fip: -kinds[fip].count("bad"))

    def pattern(at: int) -> list[bool]:
        """Returns where an AA is hit: those that are hit alike are next to each other."""
        return [kinds[fip][at] != "bad" for fip in rank]

    hits = [sum(row[at] == "bad" for row in kinds.values()) for at in range(len(known))]
    order = sorted(range(len(known)), key=lambda at: (-hits[at], pattern(at)))
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
    return Grid(
        [known[place] for place in order],
        rows,
        hit,
        recovered,
        len(matrix.cells),
        names,
        sum(one.succeeded for one in matrix.cells),
        sum(one.eligible for one in matrix.cells),
    )


def _kind(pair: Pair, named: Mapping[str, _Named]) -> str:
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


def _open(pair: Pair) -> Sequence[StoredIncident]:
    return [one for one in pair.causes if one.incident.ended is None]


def _named(one: StoredIncident) -> _Named:
    cause = one.incident.cause
    return _Named(frozenset(cause.affected_aas), frozenset(cause.affected_fips))
