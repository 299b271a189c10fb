"""The forms of a command's result: for people, and with --json for programs."""

import sys
from collections.abc import Callable, Mapping, Sequence

import typer
from msgspec import Struct

from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.cli.output.streams import is_unicode
from mudra.shared.text.csv_file import MARK


class Shown(Struct, frozen=True):
    """The result of a command, as text and as JSON, and its exit code."""

    document: object
    show: Callable[[], None]
    code: Exit = Exit.OK
    problem: str = ""
    """A sentence on standard error, once the result is shown."""
    notes: Sequence[str] = ()
    """Sentences that come first, for programs on standard error."""

    def write(self, *, as_json: bool) -> None:
        """Print one of the forms, and end the command where it failed."""
        for note in self.notes:
            typer.echo(note, err=as_json)
        if as_json:
            show_json(self.document)
        else:
            self.show()
        if self.problem:
            fail(self.problem, self.code)
        if self.code:
            raise typer.Exit(int(self.code))


def facts(shown: Mapping[str, object], document: object = None) -> Shown:
    """Shows names and values; `--json` prints `document`, or the same values without one."""
    return Shown(shown if document is None else document, lambda: show_facts(shown))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], document: object) -> Shown:
    """Shows a table; `--json` prints the document."""
    return Shown(document, lambda: show_table(columns, rows))


def text(shown: str, document: object) -> Shown:
    """Shows a text as it is; `--json` prints the document."""

    def show() -> None:
        # A byte order mark is for files; a terminal may show it.
        is_file = is_unicode() and not sys.stdout.isatty()
        typer.echo(shown if is_file else shown.removeprefix(MARK), nl=False)

    return Shown(document, show)


def line(shown: str, document: object) -> Shown:
    """Show a sentence; programs get the document."""
    return Shown(document, lambda: typer.echo(shown))


def warned(shown: Shown, warnings: Sequence[str]) -> Shown:
    """Show also warnings, which programs find in the document."""

    def show() -> None:
        shown.show()
        for sentence in warnings:
            typer.echo(f"warning: {sentence}", err=True)

    return Shown(shown.document, show)
