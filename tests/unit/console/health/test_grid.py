"""The matrix shows first what is bad now, then what has recovered, and last what has no calls."""

import json
from datetime import UTC, datetime, timedelta

from tests.support.metrics.incidents import an_incident

from mudra.console.health.grid import grid_of
from mudra.console.health.heatmap import codes_hit, heat_map, worst_of
from mudra.console.pictures.cell_picture import cell_pictures
from mudra.metrics.health.health import ErrorDetails, Health, Status
from mudra.metrics.health.picture import (
    ApiPicture,
    CellDetails,
    Matrix,
    Row,
    Subject,
    Verdict,
)
from mudra.metrics.incidents.incident import Fip, FipApi, Path, StoredIncident
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.coverage import Coverage

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
    kinds = {row.fip_id: list(row.kinds) for row in grid.rows}
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
    assert list(grid.rows[0].kinds) == ["bad", "bad", "unsure"]


def pictured(code: str, succeeded: int, status: Status = Status.BAD) -> ApiPicture:
    errors = ErrorDetails(0, 0, 100 - succeeded, 0)
    health = Health(100, succeeded, 100, succeeded / 100, errors, status, certain=True, time=None)
    return ApiPicture(Tag.REQUESTS, code, health, None, None, None)


def test_a_cell_has_the_color_and_the_figures_of_its_worst_api() -> None:
    """An average of all calls hides the one API that fails."""
    down, over = cause("BROKEN"), cause("OVER", BEGAN + timedelta(hours=1))
    cells = (cell("A", "BROKEN", 85), cell("A", "OVER", 62), cell("A", "FINE", 98))
    verdicts = (Verdict("A", "BROKEN", down), Verdict("A", "OVER", over))
    grid = grid_of(Matrix(cells, (down, over), verdicts), (), (), {"BROKEN": "Broken Bank"})
    apis = pictured("cns", 99, Status.GOOD), pictured("fif", 37), pictured("fireq", 60)
    worst = worst_of({"BROKEN": [Row(Subject("A", "BROKEN"), apis, Coverage({}, {}).proof())]})

    found = heat_map(grid, grid.rows, worst, "", "/health", "?range=1h")

    assert worst == {("A", "BROKEN"): ("fif", 37, 100)}
    assert [one.name for one in found.rows] == ["Broken Bank", "OVER", "FINE"]
    assert found.pictures == cell_pictures([["b3"], ["r"], ["g"]])
    figures = json.loads(found.data)
    assert (figures["at"], figures["kinds"]) == ([0, 1], "br"), "a good cell needs no words"
    api, *counts = figures["figures"][:3]
    assert (figures["apis"][api], counts) == ("FI fetch", [37, 100])
    first, second = found.troubles
    assert (first.fip.name, first.api, first.success, first.aas) == (
        "Broken Bank",
        "FI fetch",
        37,
        1,
    )
    assert (second.kind, second.success) == ("recovered", 62.0)


def test_a_cell_is_of_the_calls_that_its_incident_is_of() -> None:
    """Twelve calls of the worst API say little of a pair whose every API fails."""
    apis = pictured("alinkv", 0), pictured("fif", 37), pictured("fireq", 60, Status.GOOD)
    row = Row(Subject("A", "CUT"), apis, Coverage({}, {}).proof())
    subjects = {
        Path("A", "CUT"): {},
        FipApi("CUT", "fif"): {("A", "CUT"): ("fif", 37, 100)},
        FipApi("CUT", "fif,fireq"): {},
    }
    for subject, expected in subjects.items():
        cut = StoredIncident("1", an_incident(subject, BEGAN, affected_aas=("A",)), None)
        matrix = Matrix((cell("A", "CUT", 24),), (cut,), (Verdict("A", "CUT", cut),))
        grid = grid_of(matrix, (), (), {})

        worst = worst_of({"CUT": [row]}, codes_hit(grid.rows))

        assert worst == expected
        if not expected:
            (trouble,) = heat_map(grid, grid.rows, worst, "", "/health", "").troubles
            assert (trouble.api, trouble.success, trouble.calls) == ("all calls", 24.0, 100)


def test_too_few_calls_have_a_dot_and_good_ones_none() -> None:
    cells = cell("A", "FINE", 99), cell("B", "FINE", 90)
    grid = grid_of(Matrix(cells, (), ()), (), (), {})

    found = heat_map(grid, grid.rows, {}, "", "/health", "")

    at = list(grid.rows[0].kinds).index("unsure")
    assert found.doubts == f"M{at}.5 0.5h0"


def test_more_fips_than_rows_fit_a_screen_are_columns() -> None:
    cells = tuple(cell("A", f"FIP-{number:03}", 99) for number in range(300))
    grid = grid_of(Matrix(cells, (), ()), ("A", "B"), (), {})

    found = heat_map(grid, grid.rows, {}, "", "/health", "")

    assert (len(found.rows), len(found.columns), found.fips_across) == (2, 300, True)
    assert found.pictures == cell_pictures([["g"] * 300, [""] * 300])
