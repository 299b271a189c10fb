"""How commands speak: text for people, JSON for programs, exit codes that mean something."""

import enum
import json
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

import typer
from rich.console import Console
from rich.table import Table

console = Console(highlight=False, markup=False, emoji=False)  # what is shown came from outside


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


def fail(sentence: str, code: Exit = Exit.FAILED) -> NoReturn:
    """End with a sentence on standard error."""
    sys.stderr.write(f"mudra: {sentence}\n")
    raise typer.Exit(int(code))


def show_json(document: object) -> None:
    """Print JSON for programs."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def show_facts(facts: Mapping[str, object]) -> None:
    """Print names and values in two columns."""
    width = max((len(name) for name in facts), default=0)
    for name, value in facts.items():
        sys.stdout.write(f"{name.ljust(width)}  {value}\n")


def show_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, plain when the output is no terminal."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
