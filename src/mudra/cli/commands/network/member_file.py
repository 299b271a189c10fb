"""mudra member import and export: members as a CSV file."""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.local.given_file import read_file
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit, fail, show_facts, show_table
from mudra.cli.output.shown import Shown, text
from mudra.cli.output.steps import rows_shown
from mudra.shared.unavailable import DatabaseUnavailable

_OF_THE_FILE = {"csv": "the file", "the": "the"}
"""How a refusal begins that is about the file: it is wrong usage."""
_AGAIN = (
    "the database did not answer: run the same command again, it skips the members that are there"
)


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    owner_command(app, "mudra member import members.csv --dry-run --json", "import")(import_file)
    owner_command(app, "mudra member export --json")(export)


async def import_file(
    api: Api,
    file: Annotated[Path, typer.Argument(help="CSV in UTF-8, with the columns of the export.")],
    dry_run: Annotated[
        bool, typer.Option(help="Show what becomes of each row; change nothing.")
    ] = False,
) -> Shown:
    """Onboard each member of a file whose row has no fault, and name the rows that have one.

    The same file again changes nothing, so an interrupted import can be resumed.
    """
    try:
        body = {"csv": read_file(file).decode(), "dryRun": dry_run}
    except UnicodeDecodeError:
        fail(f"{file} is not UTF-8: save the file as CSV in UTF-8", Exit.USAGE)
    with rows_shown(quiet=not sys.stderr.isatty()) as on_rows:
        rows = await _imported(api, body, lambda done: on_rows(file.name, done))
    counts = {
        result: sum(one["result"] == result for one in rows.values())
        for result in ("new", "unchanged", "refused", "left")
    }

    def show() -> None:
        show_table(
            ["LINE", "ENTITY", "RESULT", "COLUMN", "PROBLEM"],
            [
                [
                    *(str(one["line"]), ascii(one["entityId"])[1:-1]),
                    *(one["result"], one["column"], one["problem"]),
                ]
                for one in rows.values()
            ],
        )
        show_facts({name: counts[name] for name in ("new", "unchanged", "refused")})
        if dry_run:
            typer.echo("Nothing was changed. Run it without --dry-run to import.")

    document = {"dryRun": dry_run, **counts, "rows": [*rows.values()]}
    return Shown(document, show, Exit.FAILED if counts["refused"] else Exit.OK)


async def _imported(
    api: Api, body: Mapping[str, object], on_rows: Callable[[int], None]
) -> dict[int, dict[str, Any]]:
    """Send the file until no row is left: a request begins rows for 20 seconds."""
    rows: dict[int, dict[str, Any]] = {}
    left = sys.maxsize
    while left:
        try:
            answer = await api.post("/operator/v1/members/import", body, _OF_THE_FILE)
        except DatabaseUnavailable as error:
            raise CommandFailed(_AGAIN, Exit.UNREACHABLE) from error
        # What an earlier round imported is unchanged in this one.
        rows |= {one["line"]: one for one in answer["rows"] if _is_news(one, rows)}
        if answer["left"] >= left:
            raise CommandFailed("no row was begun in time: run the command again", Exit.WAIT)
        left = answer["left"]
        on_rows(len(rows) - left)
    return rows


async def export(api: Api) -> Shown:
    """Write all members as CSV, as an import reads it."""
    written = await api.text("/operator/v1/members/export")
    return text(written, {"csv": written})


def _is_news(row: dict[str, Any], known: dict[int, dict[str, Any]]) -> bool:
    return row["line"] not in known or known[row["line"]]["result"] == "left"
