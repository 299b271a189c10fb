"""The matrix as a picture: a cell for each pair, coloured by the worst API of its calls."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup
from msgspec import Struct

from mudra.console.health.grid import Grid, GridRow, Pair
from mudra.console.pictures.cell_picture import cell_pictures
from mudra.localization.language import gettext
from mudra.metrics.health.api_names import api_name
from mudra.metrics.health.picture import Row, worst_api
from mudra.metrics.incidents.incident import AaReporting
from mudra.metrics.incidents.subject import codes_of
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.percentage import percentage, share_of

MOST_DOWN: Final = 60
"""FIPs that are rows with a name; more are columns, which need two pixels each."""
_WITH_HEADS: Final = 48
_TALL: Final = 20
_FLAT_HEADS: Final = 5
_SHADES: Final = ((90, "b1"), (70, "b2"), (30, "b3"), (0, "b4"))
"""The success from which on a bad cell has a shade: the same order of hues in both schemes."""
_LISTED: Final = 20

Worst = Mapping[tuple[str, str], tuple[str, int, int]]
"""The worst API of a pair: its code, how many calls succeeded, and of how many."""
_ALL: Final = frozenset[str]()


class Label(Struct, frozen=True):
    """A row or a column."""

    member_id: str
    name: str
    path: str


class Trouble(Struct, frozen=True):
    """One FIP with trouble, in words: the same as its row of the picture."""

    fip: Label
    kind: str
    api: str
    success: float | None
    calls: int
    aas: int


class HeatMap(Struct, frozen=True):
    """The picture, of rows that are chosen."""

    rows: Sequence[Label]
    columns: Sequence[Label]
    fips_across: bool
    pictures: Sequence[tuple[str, str]]
    """By the scheme of colours."""
    lines: str
    doubts: str
    """A dot in each cell with too few calls, which is not good by more than its color."""
    row_height: int
    with_heads: bool
    flat_heads: bool
    data: Markup
    """Figures as JSON without a quote to escape in an attribute, which would be half of it."""
    troubles: Sequence[Trouble]
    more_troubles: int

    @property
    def height(self) -> int:
        """The height in pixels."""
        return len(self.rows) * self.row_height

    @property
    def least_width(self) -> int:
        """The width in pixels below which it scrolls."""
        return len(self.columns) * 2


def codes_hit(rows: Iterable[GridRow]) -> Mapping[tuple[str, str], frozenset[str]]:
    """Returns the APIs that fail at each pair by the incidents that reach it.

    Empty where one of them is of several.
    """
    found = {}
    for row in rows:
        for kind, pair in row.both:
            of_calls = [
                one.incident
                for one in pair.causes
                if not isinstance(one.incident.subject, AaReporting)
                if kind != "bad" or one.incident.ended is None
            ]
            codes = [codes_of(one.subject) for one in of_calls]
            if codes and kind in {"bad", "recovered"}:
                each_one = all(len(one) == 1 for one in codes)
                found[pair.aa_id, row.fip_id] = frozenset().union(*codes) if each_one else _ALL
    return found


def worst_of(
    seen: Mapping[str, Sequence[Row]],
    hit: Mapping[tuple[str, str], frozenset[str]] = MappingProxyType({}),
) -> Worst:
    """Returns the API to name of each pair that has calls: the worst one.

    Where incidents hit it, the worst of theirs. None where an incident is of several APIs: it is
    all calls then, as the few calls of the worst of them say nothing.
    """
    found = {}
    for row in (row for rows in seen.values() for row in rows):
        pair = row.subject.aa_id, row.subject.fip_id
        codes = hit.get(pair)
        if codes is not None and not codes:
            continue
        named = [one for one in row.apis if codes and one.tag is Tag.REQUESTS and one.type in codes]
        worst = worst_api(named) or worst_api(row.apis)
        if worst and (health := worst.health):
            found[pair] = (worst.type, health.succeeded, health.eligible)
    return found


def heat_map(
    grid: Grid, rows: Sequence[GridRow], worst: Worst, code: str, home: str, query: str
) -> HeatMap:
    """Returns the picture of these rows of a grid; `code` is its API, empty for all."""
    fips = [Label(row.fip_id, row.name, f"{home}/fip/{row.fip_id}{query}") for row in rows]
    aas = [Label(aa, grid.names.get(aa, aa), f"{home}/aa/{aa}{query}") for aa in grid.aas]
    across = len(rows) > MOST_DOWN
    of_fip = [[_cell(kind, pair, row, worst, code) for kind, pair in row.both] for row in rows]
    cells = [list(column) for column in zip(*of_fip, strict=True)] if across else of_fip
    down, right = (aas, fips) if across else (fips, aas)
    troubles = [_trouble(row, label, worst, code) for row, label in zip(rows, fips, strict=True)]
    known = [one for one in troubles if one is not None]
    return HeatMap(
        rows=down,
        columns=right,
        fips_across=across,
        pictures=cell_pictures([[one.shade for one in row] for row in cells]),
        lines=_lines(len(down), len(right)),
        doubts=_doubts(cells) if len(right) <= _WITH_HEADS else "",
        row_height=22 if len(down) <= _TALL else 14,
        with_heads=len(right) <= _WITH_HEADS,
        flat_heads=len(right) <= _FLAT_HEADS,
        data=_data(cells, down, right, across=across, home=home, query=query),
        troubles=known[:_LISTED],
        more_troubles=max(0, len(known) - _LISTED),
    )


class _Cell(Struct, frozen=True, gc=False):
    """One pair: its class in the picture, and the figures under the pointer."""

    shade: str
    kind: str
    code: str
    succeeded: int
    eligible: int


def _cell(kind: str, pair: Pair, row: GridRow, worst: Worst, code: str) -> _Cell:
    if pair.calls is None:
        return _Cell("", "none", "", 0, 0)
    of_all = (code, pair.calls.succeeded, pair.calls.eligible)
    named, succeeded, eligible = worst.get((pair.aa_id, row.fip_id), of_all)
    shade = {"good": "g", "unsure": "u", "recovered": "r"}.get(kind, "")
    if kind == "good":
        return _Cell(shade, kind, *of_all)
    return _Cell(shade or _shade(succeeded, eligible), kind, named, succeeded, eligible)


def _shade(succeeded: int, eligible: int) -> str:
    share = percentage(share_of(succeeded, eligible)) or 0.0
    return next(name for least, name in _SHADES if share >= least)


def _lines(rows: int, columns: int) -> str:
    """Returns the outline of what parts rows, and columns where they are wide enough."""
    across = [f"M0 {y}h{columns}" for y in range(1, rows)]
    down = [f"M{x} 0v{rows}" for x in range(1, columns)] if columns <= _WITH_HEADS else []
    return "".join(across + down)


def _doubts(cells: Sequence[Sequence[_Cell]]) -> str:
    return "".join(
        f"M{x}.5 {y}.5h0"
        for y, row in enumerate(cells)
        for x, cell in enumerate(row)
        if cell.shade == "u"
    )


def _data(
    cells: Sequence[Sequence[_Cell]],
    rows: Iterable[Label],
    columns: Iterable[Label],
    *,
    across: bool,
    home: str,
    query: str,
) -> Markup:
    """Returns the figures for the script that shows them, in JSON: of cells that are not good.

    `at` has how far each is behind the one before, `kinds` its kind's first letter, and `figures`
    three numbers for each that has calls.
    """
    apis: list[str] = []
    at: list[int] = []
    kinds, figures, last = "", list[int](), 0
    width = len(cells[0]) if cells else 0
    for y, row in enumerate(cells):
        for x, cell in enumerate(row):
            if cell.kind == "good":
                continue
            at.append(y * width + x - last)
            last, kinds = y * width + x, kinds + cell.kind[0]
            if cell.kind == "none":
                continue
            name = api_name(cell.code) if cell.code else gettext("all calls")
            if name not in apis:
                apis.append(name)
            figures += [apis.index(name), cell.succeeded, cell.eligible]
    data = {
        "rows": [[one.member_id, one.name] for one in rows],
        "columns": [[one.member_id, one.name] for one in columns],
        "across": across,
        "pair": f"{home}/pair/",
        "query": query,
        "apis": apis,
        "at": at,
        "kinds": kinds,
        "figures": figures,
    }
    return htmlsafe_json_dumps(data, ensure_ascii=False, separators=(",", ":"))


def _trouble(row: GridRow, label: Label, worst: Worst, code: str) -> Trouble | None:
    """Returns what is wrong at a FIP: the API with most failed calls where it is hit."""
    kind = "bad" if row.is_bad else "recovered"
    hit = [pair for one, pair in row.both if one == kind and pair.calls is not None]
    if not hit:
        return None
    failed: dict[str, list[int]] = {}
    for pair in hit:
        assert pair.calls is not None  # chosen above
        of_all = (code, pair.calls.succeeded, pair.calls.eligible)
        named, succeeded, eligible = worst.get((pair.aa_id, row.fip_id), of_all)
        sums = failed.setdefault(named, [0, 0])
        sums[0] += succeeded
        sums[1] += eligible
    api, (succeeded, eligible) = max(failed.items(), key=lambda one: one[1][1] - one[1][0])
    share = percentage(share_of(succeeded, eligible), 1)
    name = api_name(api) if api else gettext("all calls")
    return Trouble(label, kind, name, share, eligible, len(hit))
