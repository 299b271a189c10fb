"""The table of the console: sorts, filters, pages, exports; an address in error does no harm."""

import codecs
import csv
import io
from dataclasses import dataclass

from mudra.console.framework.table import Column, Table


@dataclass(frozen=True)
class Town:
    name: str
    people: int | None


TABLE = Table(
    "towns",
    "Towns",
    (
        Column[Town]("name", "Town", lambda t: t.name),
        Column[Town]("people", "People", lambda t: t.people, "number"),
    ),
    first_sort="name",
)
TOWNS = [Town("Panaji", 114), Town("agra", 1585), Town("Mysuru", None), Town("Kochi", 602)]


def names(**query: str) -> list[object]:
    view = TABLE.view(TOWNS, {f"towns.{key}": value for key, value in query.items()})
    return [row[0].value for row in view.rows]


def test_it_sorts_both_ways_and_what_is_missing_stays_last() -> None:
    assert names() == ["agra", "Kochi", "Mysuru", "Panaji"]
    assert names(sort="people") == ["Panaji", "Kochi", "agra", "Mysuru"]
    assert names(sort="-people") == ["agra", "Kochi", "Panaji", "Mysuru"]


def test_the_head_of_the_sorted_column_turns_the_order() -> None:
    heads = TABLE.view(TOWNS, {"towns.sort": "people", "other": "kept"}).heads

    assert [head.sorted for head in heads] == ["", "ascending"]
    assert "towns.sort=-people" in heads[1].link
    assert "other=kept" in heads[1].link


def test_a_row_has_its_place_of_each_cell_on_a_phone() -> None:
    columns = [Column[Town]("name", "Town", lambda t: t.name)]
    kinds = ("code", "tag", "number", "number", "number", "number", "tag")
    columns += [
        Column[Town](str(at), "", lambda t: t.people, kind) for at, kind in enumerate(kinds)
    ]

    places = Table("towns", "Towns", columns).view(TOWNS, {}).places

    assert list(places) == [
        *("name-cell", "more-cell", "state-cell", "figure-cell", "figure-cell", "figure-cell"),
        *("more-cell", "more-cell"),
    ]


def test_it_filters_by_any_column_without_regard_to_case() -> None:
    assert names(q="AG") == ["agra"]
    assert names(q="602") == ["Kochi"]
    assert TABLE.view(TOWNS, {"towns.q": "zzz"}).found == "0 of 4 rows"


def test_it_filters_by_words_in_any_order_over_all_columns() -> None:
    assert names(q="602 koc") == ["Kochi"]
    assert names(q="Koc 60") == ["Kochi"]
    assert names(q="kochi 114") == []


def test_it_pages_and_an_address_in_error_shows_a_page_that_there_is() -> None:
    many = [Town(f"{n:03}", n) for n in range(75)]

    def page(number: str) -> list[object]:
        return [row[0].value for row in TABLE.view(many, {"towns.page": number}).rows]

    assert page("3") == [f"{n:03}" for n in range(60, 75)]
    assert page("99") == page("3")
    assert page("-1") == page("x") == page("9" * 400) == page("1")


def test_the_export_holds_every_row_of_the_filter_and_no_formula() -> None:
    rows = [Town(f"town {n}", n) for n in range(60)] + [Town("=HYPERLINK(1)", -5)]
    file = TABLE.export(rows, {"export": "towns", "towns.sort": "people"})

    assert file is not None
    assert file.body.startswith(codecs.BOM_UTF8)  # or Excel reads it in another encoding
    lines = list(csv.reader(io.StringIO(file.body.decode("utf-8-sig"))))
    assert len(lines) == 62
    assert lines[1] == ["'=HYPERLINK(1)", "-5"]
    assert TABLE.export(rows, {"export": "others"}) is None


def test_what_is_below_is_shown_under_its_row_and_in_the_export() -> None:
    shown = Table(
        "told",
        "Told",
        (
            Column[Town]("name", "Town", lambda t: t.name),
            Column[Town]("people", "People", lambda t: t.people, "below"),
            Column[Town](
                "first",
                "First letter",
                lambda t: t.name[0],
                "below",
                link=lambda t: f"/letters/{t.name[0]}",
            ),
        ),
    )

    view, file = shown.view(TOWNS[1:3], {}), shown.export(TOWNS[1:3], {"export": "told"})

    assert [head.title for head in view.heads] == ["Town"]
    assert [[(one.title, one.value, one.link) for one in below] for below in view.below] == [
        [("People", 1585, ""), ("First letter", "a", "/letters/a")],
        [("First letter", "M", "/letters/M")],
    ]
    assert file is not None
    assert file.body.decode("utf-8-sig").splitlines()[0] == "Town,People,First letter"


def test_the_numbers_of_a_column_have_the_same_decimals() -> None:
    shares = Table("shares", "Shares", (Column[float]("share", "%", lambda n: n, "number"),))

    rows = shares.view([99.61, 100.0, 41.5], {}).rows

    assert {row[0].places for row in rows} == {2}


def test_rows_of_one_text_show_what_they_differ_in() -> None:
    towns = [Town("Salem", 1), Town("Salem", 2), Town("Kochi", 3)]
    name = Column[Town]("name", "Town", lambda t: t.name, also=lambda t: f"IN-{t.people}")
    table = Table("towns", "Towns", (name,), first_sort="name", rows=2)

    shown = [(row[0].value, row[0].also) for row in table.view(towns, {}).rows]

    assert shown == [("Kochi", ""), ("Salem", "IN-1")], "the other Salem is on the next page"


def test_a_usual_value_has_no_ink_and_is_in_the_file() -> None:
    state = Column[Town]("state", "State", lambda _: "open", usual="open")
    table = Table("towns", "Towns", (TABLE.columns[0], state))

    shown, file = table.view(TOWNS, {}), table.export(TOWNS, {"export": "towns"})

    assert all(cell.value != "open" for row in shown.rows for cell in row)
    assert file is not None
    assert file.body.decode().count("open") == len(TOWNS)
