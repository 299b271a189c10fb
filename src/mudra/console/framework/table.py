"""A table that sorts, filters, pages and exports: the same for every page, and without scripts.

A page names its columns once; the address holds what the reader chose
(`members.sort`, `members.q`, `members.page`), so that a view can be shared.
`?export=members` gives all rows of the filter as CSV.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Final, Generic, TypeVar
from urllib.parse import urlencode

from msgspec import Struct

from mudra.console.framework.page_results import Download
from mudra.localization.language import ENGLISH, current, gettext, ngettext, written_in
from mudra.shared.text.csv_file import MARK, safe_cell

R = TypeVar("R")
Value = str | int | float | datetime | date | None

PAGE: Final = 30
_MAX_WORDS: Final = 100
_MAX_SEEN: Final = 8
"""Rows that need no filter: they are seen at a glance."""
_LONG: Final = 28
_SHORT: Final = 14
_OURS: Final = ("label", "tag")
_TEXTS: Final = ("text", "english", "label", "address", "sentence")
_FIGURES: Final = ("number", "time", "moment", "day")
_NOT_ACROSS: Final = ("below", "file")
_MOST_FIGURES: Final = 3


class Column(Struct, Generic[R], frozen=True):
    """A column of a table.

    `kind` is text, english, label, address, sentence, code, number, time, moment, day, type, tag,
    below or file; `tone` colours a tag. Labels and tags are words of ours: they are shown in the
    reader's language. A sentence begins with who acted. An english text is the API's own, the same
    in every language, and marked as English.
    `order` is what it sorts by where that is not the value itself. What is below is under
    its row, over the whole width: long words that would push other columns out of sight. What
    is `folded` opens with the first cell of its row: what few readers of a row need. What is
    for the file is found and exported, and not shown.
    """

    key: str
    title: str
    value: Callable[[R], Value]
    kind: str = "text"
    link: Callable[[R], str] | None = None
    tone: Callable[[R], str] | None = None
    order: Callable[[R], Value] | None = None
    also: Callable[[R], str] | None = None
    """What a row is found by next to its texts, such as an ID; rows of one text show it."""
    folded: bool = False
    phone: str = ""
    """Its place on a phone: `state`, `figure` or `second-name`. Where a column has one, the first
    column is the name and all others unfold; else the table chooses (`TableView.places`)."""
    usual: str = ""
    """A value that a page leaves out, so that only what is not usual has ink; files have it."""

    def is_seen(self, row: R) -> bool:
        """Report whether a page shows anything in its cell of this row."""
        return self.value(row) not in {None, self.usual or None}


class Cell(Struct, frozen=True):
    """One cell as the template shows it."""

    value: Value
    kind: str
    link: str
    tone: str
    places: int
    """Decimals of a number: the same in all rows of its column."""
    also: str = ""

    @property
    def number(self) -> bool:
        """Report whether it is aligned to the right."""
        return self.kind == "number"

    @property
    def room(self) -> str:
        """The class of its room: where a table is short of it, words go on in a second line."""
        if self.kind in {"time", "moment"}:
            return "when"
        length = len(str(self.value)) if self.kind in {*_TEXTS, "code"} else 0
        if length > _LONG:
            return "words"
        return "term" if self.kind in _TEXTS and length > _SHORT else ""


class Below(Struct, frozen=True):
    """A value below a row, with the title of its column."""

    title: str
    value: Value
    link: str


class Folded(Struct, frozen=True):
    """A cell that opens with the first of its row, with the title of its column."""

    title: str
    cell: Cell


class Head(Struct, frozen=True):
    """The head of a column: its link sorts by it, or turns the order."""

    title: str
    link: str
    sorted: str
    number: bool
    phone: str = ""


class TableView(Struct, frozen=True, kw_only=True):
    """The table as the macro `parts.table` shows it."""

    name: str
    title: str
    heads: Sequence[Head]
    rows: Sequence[Sequence[Cell]]
    below: Sequence[Sequence[Below]]
    """What is below each row."""
    folded: Sequence[Sequence[Folded]]
    """What opens with the first cell of each row."""
    ticks: Sequence[tuple[str, str]]
    """The name of each row's checkbox in `act_on` and what it chooses; both empty for none."""
    act_on: str
    words: str
    may_filter: bool
    kept: Mapping[str, str]
    total: int
    found: str
    page: int
    pages: int
    before: str
    after: str
    csv_link: str

    @property
    def places(self) -> Sequence[str]:
        """The class of each column's place in the two lines that a row has on a phone.

        The first line has what the row is and its state, the second three figures; more unfolds.
        Without figures the first of the other columns takes their place.
        Where rows share a name, as the APIs of an AA do, the second column names them too. A
        sentence has the line to itself.
        """
        if any(head.phone for head in self.heads):
            return ["name-cell", *(f"{head.phone or 'more'}-cell" for head in self.heads[1:])]
        found, state, figures = ["name-cell"], 0, 0
        names = [str(row[0].value) for row in self.rows]
        repeats = len(set(names)) < len(names) and not self.ticks
        for at, cell in enumerate((self.rows[0] if self.rows else ())[1:]):
            if at == 0 and repeats and cell.kind in {*_TEXTS, "code"}:
                found.append("second-name-cell")
            elif cell.kind == "tag" and not state:
                state = 1
                found.append("state-cell")
            elif cell.kind in _FIGURES and figures < _MOST_FIGURES:
                figures += 1
                found.append("figure-cell")
            else:
                found.append("more-cell")
        if not figures and "more-cell" in found:
            found[found.index("more-cell")] = "figure-cell"
        return found


class Table(Struct, Generic[R], frozen=True):
    """A named table of a page; screen readers announce its `title`.

    Where rows can be chosen, `choose` names each, for the form `NAME-act` of the page.
    """

    name: str
    title: str
    columns: Sequence[Column[R]]
    first_sort: str = ""
    choose: Callable[[R], str] | None = None
    rows: int = PAGE
    """Rows of a page."""
    filters: bool = True
    """Whether it has a filter of its own; else the page's form sends its words."""

    def view(self, rows: Sequence[R], query: Mapping[str, str]) -> TableView:
        """Show the page of rows that the address asks for; an address in error shows the first."""
        chosen = self.chosen(rows, query)
        pages = max(1, -(-len(chosen) // self.rows))
        number = min(_whole(query.get(self._name("page"), "1")), pages)
        words = self._words(query)
        shown = chosen[(number - 1) * self.rows : number * self.rows]
        across = [one for one in self.columns if one.kind not in _NOT_ACROSS and not one.folded]
        # A column in which no row has a value is left out: it would be dashes alone.
        across = [
            column
            for at, column in enumerate(across)
            if not at or not chosen or any(map(column.is_seen, chosen))
        ]
        return TableView(
            name=self.name,
            title=gettext(self.title),
            heads=[self._head(column, query) for column in across],
            rows=[*zip(*(_cells_of(one, shown, rows) for one in across), strict=True)],
            below=self._below(shown),
            folded=self._folded(shown),
            ticks=self._ticks(shown),
            act_on=f"{self.name}-act",
            words=words,
            may_filter=self.filters and (bool(words) or len(rows) > _MAX_SEEN),
            kept={
                name: value
                for name, value in query.items()
                if name not in {self._name("q"), self._name("page")}
            },
            total=len(chosen),
            found=_count(len(chosen), len(rows)),
            page=number,
            pages=pages,
            before=self._link(query, page=str(number - 1)) if number > 1 else "",
            after=self._link(query, page=str(number + 1)) if number < pages else "",
            csv_link="?" + urlencode({**query, "export": self.name}),
        )

    def is_exported(self, query: Mapping[str, str]) -> bool:
        """Return whether the address asks for this table as a file."""
        return query.get("export") == self.name

    def export(
        self, rows: Sequence[R], query: Mapping[str, str], *, left_out: str = ""
    ) -> Download | None:
        """Give the rows of the filter as CSV when the address asks for this table's."""
        return self.file(rows, query, left_out=left_out) if self.is_exported(query) else None

    def file(self, rows: Sequence[R], query: Mapping[str, str], *, left_out: str = "") -> Download:
        """Returns the rows of the filter as CSV.

        A file is in English, whatever language its rows were filtered in. Where rows are
        `left_out`, its last line says so.
        """
        text, chosen = io.StringIO(), self.chosen(rows, query)
        text.write(MARK)
        writer = csv.writer(text)
        with written_in(ENGLISH):
            writer.writerow([column.title for column in self.columns])
            for row in chosen:
                writer.writerow([_plain(column.value(row)) for column in self.columns])
            if left_out:
                writer.writerow([left_out])
        return Download(f"{self.name}.csv", "text/csv", text.getvalue().encode())

    def tick(self, row: str) -> str:
        """Return the name of the field that chooses a row."""
        return f"{self.name}.tick.{row}"

    def chosen(self, rows: Sequence[R], query: Mapping[str, str]) -> Sequence[R]:
        """Return the rows of all pages that the address asks for, in its order."""
        words = self._words(query).casefold().split()
        found = [row for row in rows if not words or self._holds(row, words)]
        key, down = self._order(query)
        column = next((c for c in self.columns if c.key == key), None)
        if column is None:
            return found
        value = column.order or column.value
        there = [row for row in found if value(row) is not None]
        there.sort(key=lambda row: _comparable(value(row)), reverse=down)
        return there + [row for row in found if value(row) is None]  # what is missing stays last

    def _holds(self, row: R, words: Sequence[str]) -> bool:
        """Return whether each word is in the row, in any order: names are typed from memory."""
        texts = [_shown(column, row) for column in self.columns]
        texts += [column.also(row) for column in self.columns if column.also]
        text = "\n".join(texts).casefold()
        return all(word in text for word in words)

    def _below(self, shown: Sequence[R]) -> Sequence[Sequence[Below]]:
        columns = [one for one in self.columns if one.kind == "below"]
        return [
            [
                Below(gettext(one.title), value, one.link(row) if one.link else "")
                for one in columns
                if (value := one.value(row))
            ]
            for row in shown
        ]

    def _folded(self, shown: Sequence[R]) -> Sequence[Sequence[Folded]]:
        columns = [one for one in self.columns if one.folded]
        return [
            [
                Folded(gettext(one.title), *_cells_of(one, [row], ()))
                for one in columns
                if one.value(row) is not None
            ]
            for row in shown
        ]

    def _ticks(self, shown: Sequence[R]) -> Sequence[tuple[str, str]]:
        if self.choose is None:
            return ()
        return [(self.tick(name), name) if name else ("", "") for name in map(self.choose, shown)]

    def _words(self, query: Mapping[str, str]) -> str:
        return query.get(self._name("q"), "").strip()[:_MAX_WORDS]

    def _order(self, query: Mapping[str, str]) -> tuple[str, bool]:
        asked = query.get(self._name("sort"), self.first_sort)
        return asked.removeprefix("-"), asked.startswith("-")

    def _head(self, column: Column[R], query: Mapping[str, str]) -> Head:
        key, down = self._order(query)
        mine = key == column.key
        other = column.key if down or not mine else f"-{column.key}"
        order = "descending" if down else "ascending"
        link = self._link(query, sort=other, page="1")
        numeric = column.kind == "number"
        return Head(gettext(column.title), link, order if mine else "", numeric, column.phone)

    def _link(self, query: Mapping[str, str], **changes: str) -> str:
        changed = {self._name(word): value for word, value in changes.items()}
        return "?" + urlencode({**query, **changed}) + f"#{self.name}"

    def _name(self, word: str) -> str:
        return f"{self.name}.{word}"


def _cells_of(column: Column[R], shown: Sequence[R], rows: Sequence[R]) -> Sequence[Cell]:
    values = [column.value(row) if column.is_seen(row) else None for row in shown]
    alike = _alike(column, rows)
    places = max(map(_places, values), default=0)
    return [
        Cell(
            value,
            column.kind,
            column.link(row) if column.link else "",
            column.tone(row) if column.tone else "quiet",
            places,
            column.also(row) if column.also and value in alike else "",
        )
        for value, row in zip(values, shown, strict=True)
    ]


def _alike(column: Column[R], rows: Sequence[R]) -> frozenset[Value]:
    """Returns the texts of a column that several rows have, which differ in what is behind it."""
    if column.also is None:
        return frozenset()
    times = Counter(text for text, _ in {(column.value(row), column.also(row)) for row in rows})
    return frozenset(text for text, count in times.items() if count > 1)


def _shown(column: Column[R], row: R) -> str:
    """Return the text that a reader sees of a cell, and may look for."""
    value = column.value(row)
    text = _plain(value)
    if column.kind == "day" and isinstance(value, date):
        return f"{current().day(value)} {text}"
    return gettext(text) if column.kind in _OURS else text


def _places(value: Value) -> int:
    """Decimals that a value is written with."""
    return len(str(value).partition(".")[2]) if isinstance(value, float) else 0


def _count(shown: int, total: int) -> str:
    if shown == total:
        return ngettext("%(num)s row", "%(num)s rows", total)
    part = current().number(shown)
    return ngettext("%(shown)s of %(num)s row", "%(shown)s of %(num)s rows", total, shown=part)


def _whole(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) <= 6 else 1  # noqa: PLR2004  # characters


def _comparable(value: Value) -> tuple[int, float, str]:
    if isinstance(value, datetime):
        return (0, value.timestamp(), "")
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value).casefold())


def _plain(value: Value) -> str:
    """Write a value for CSV; a text that a spreadsheet would run as a formula is quoted."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return str(safe_cell(value))
