"""The language of commands: text for people, JSON for programs, exit codes that mean something."""

import enum
import json
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

import typer
from rich.console import Console
from rich.table import Table

from mudra.cli.output.streams import is_unicode
from mudra.cli.table import NOT_INSTALLED

_INSTANT: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z")
# What is shown came from outside: nothing in it is markup.
console = Console(highlight=False, markup=False, emoji=False)
_any_width = Console(highlight=False, markup=False, emoji=False, width=1000)


class Exit(enum.IntEnum):
    """Exit codes, the same for every command."""

    OK = 0
    FAILED = 1
    """The service refused, or a check found something."""
    USAGE = 2
    """The command's words are off."""
    NOT_SIGNED_IN = 3
    """No token, or one that has ended: sign in first."""
    WAIT = 4
    """A limit is reached: the same command may work later."""
    UNREACHABLE = 5
    """The service or its database did not answer."""
    NOT_INSTALLED = NOT_INSTALLED
    """The command needs an extra that is not installed."""


def fail(sentence: str, code: Exit = Exit.FAILED) -> NoReturn:
    """Prints a sentence on standard error and ends the command."""
    sys.stderr.write(f"mudra: {sentence}\n")
    raise typer.Exit(int(code))


def show_json(document: object) -> None:
    """Prints JSON for programs."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=not is_unicode()) + "\n")


def show_facts(facts: Mapping[str, object]) -> None:
    """Prints names and values in two columns."""
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        sys.stdout.write(f"{name.ljust(width)}  {value}\n")


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table; in a pipeline each row is one line of any length.

    The first column names the row and is there to be copied: the others fold before it does.
    Times are shown to the second; `--json` has the milliseconds.
    """
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*(_INSTANT.sub(r"\1 \2Z", cell) for cell in row))
    (console if console.is_terminal else _any_width).print(table)
