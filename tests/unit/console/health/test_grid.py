"""The matrix shows first what is bad now, then what has recovered, and last what has no calls."""

from datetime import UTC, datetime, timedelta

from tests.support.metrics.incidents import an_incident

from mudra.console.health.grid import grid_of
from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import CellDetails, Matrix, Verdict
from mudra.metrics.incidents.incident import Fip, StoredIncident

BEGAN = datetime(2026, 11, 23, 2, tzinfo=UTC)
FIPS = ("EMPTY", "FINE", "OVER", "BROKEN")


def cause(fip: str, ended: datetime | None = None, *, aas: tuple[str, ...] = ()) -> StoredIncident:
    return StoredIncident(fip, an_incident(Fip(fip), BEGAN, ended, affected_aas=aas), None)


def cell(aa: str, fip: str, succeeded: int) -> CellDetails:
    status = Status.GOOD if succeeded > 95 else Status.BAD
    return CellDetails(aa, fip, status, succeeded, 100)


def test_rows_come_by_what_is_bad_now_and_not_by_their_average() -> None:
    broken = cause("BROKEN", aas=("A",))
    over = cause("OVER", BEGAN + timedelta(hours=1))
    cells = (
        cell("A", "BROKEN", 97), cell("B", "BROKEN", 99),
        cell("A", "FINE", 99), cell("B", "FINE", 90),
        cell("A", "OVER", 50),
    )  # fmt: skip
    verdicts = (
        *(Verdict(aa, "BROKEN", broken) for aa in ("A", "B")),
        Verdict("A", "OVER", over),
    )

    grid = grid_of(Matrix(cells, (broken, over), verdicts), ("A", "B"), FIPS, {})

    assert [row.fip_id for row in grid.rows] == ["BROKEN", "OVER", "FINE", "EMPTY"]
    assert [row.fip_id for row in grid.bad_rows] == ["BROKEN"]
    kinds = {row.fip_id: [one.kind for one in row.cells] for row in grid.rows}
    assert kinds["BROKEN"] == ["bad", "good"], "only A is hit, whatever its average"
    assert kinds["OVER"] == ["recovered", "none"]
    assert kinds["FINE"] == ["good", "unsure"], "without a cause it may be chance"
    assert (grid.hit, grid.recovered) == (1, 1)


def test_the_worst_rows_and_columns_come_first() -> None:
    down, cut = cause("Z-DOWN"), cause("Y-CUT")
    cells = tuple(cell(aa, fip, 50) for aa in ("A", "B", "C") for fip in ("Y-CUT", "Z-DOWN"))
    verdicts = (Verdict("C", "Y-CUT", cut), *(Verdict(aa, "Z-DOWN", down) for aa in ("B", "C")))

    grid = grid_of(Matrix(cells, (down, cut), verdicts), ("A", "B", "C"), ("A-FINE",), {})

    assert [row.fip_id for row in grid.rows] == ["Z-DOWN", "Y-CUT", "A-FINE"]
    assert list(grid.aas) == ["C", "B", "A"]
    assert [one.kind for one in grid.rows[0].cells] == ["bad", "bad", "unsure"]


def test_the_name_of_a_cell_contains_the_figure_that_is_seen_in_it() -> None:
    """As WCAG 2.5.3 has it: who says what is on the screen reaches the link."""
    down, over = cause("BROKEN"), cause("OVER", BEGAN + timedelta(hours=1))
    cells = (cell("A", "BROKEN", 51), cell("A", "OVER", 62), cell("A", "FINE", 98))
    chance = (cell("B", "FINE", 73),)
    verdicts = (Verdict("A", "BROKEN", down), Verdict("A", "OVER", over))

    grid = grid_of(Matrix((*cells, *chance), (down, over), verdicts), (), (), {})

    seen = {one.kind: one.figure for row in grid.rows for one in row.cells if one.figure != "-"}
    assert seen == {"bad": "51.0 %", "recovered": "62.0 %", "good": "98.0 %", "unsure": "73.0 %"}
    named = {one.kind: one.label for row in grid.rows for one in row.cells}
    assert all(f"{seen[kind]}: " in named[kind] for kind in seen), named
