"""mudra member import and export: members as a CSV file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from msgspec import to_builtins

from mudra.audit.event import Caller
from mudra.cli.local.one_by_one import Ran, run_one_by_one
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.registry_store import read_file
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.http.response.import_responses import import_response
from mudra.identity.memberships.import_members import (
    RowOutcome,
    export_members,
    import_row,
    preview_import,
)
from mudra.identity.memberships.member_file import FileRow, read_member_file
from mudra.identity.memberships.member_search import MemberFilter
from mudra.identity.operators.person_rule import owner
from mudra.shared.refusal import Refusal


def add_commands(app: typer.Typer) -> None:
    """Add the commands of this file."""
    app.command("import", epilog="Example: mudra member import members.csv --dry-run --json")(
        import_file
    )
    app.command("export", epilog="Example: mudra member export --json")(export)


def import_file(
    file: Annotated[Path, typer.Argument(help="CSV in UTF-8, with the columns of the export.")],
    dry_run: Annotated[
        bool, typer.Option(help="Show what becomes of each row; change nothing.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Onboard each member of a file whose row has no fault, and name the rows that have one.

    The same file again changes nothing, so an interrupted import can be resumed.
    """
    rows = read_member_file(read_file(file))
    if isinstance(rows, Refusal):
        fail(rows.sentence, Exit.USAGE)
    imported = with_store(
        lambda dependencies: _run(dependencies, rows, dry_run=dry_run, quiet=as_json), data_dir
    )
    _show(imported.outcomes, dry_run=dry_run, as_json=as_json)
    if imported.interrupted:
        fail(
            f"the database did not answer after {len(imported.outcomes)} of {len(rows)} rows: "
            "run the same command again, it skips the members that are there",
            Exit.UNREACHABLE,
        )
    if any(one.refusal for one in imported.outcomes):
        raise typer.Exit(int(Exit.FAILED))


def export(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Write all members as CSV, as an import reads it."""

    async def run(dependencies: Dependencies) -> str:
        async with dependencies.unit_of_work() as work:
            return await export_members(work, MemberFilter())

    text = with_store(run, data_dir)
    if as_json:
        show_json({"csv": text})
    else:
        typer.echo(text, nl=False)


async def _run(
    dependencies: Dependencies, rows: Sequence[FileRow], *, dry_run: bool, quiet: bool
) -> Ran[RowOutcome]:
    """Say what becomes of each row, then import it."""
    async with dependencies.unit_of_work() as work:
        planned = await preview_import(work, rows)
    if dry_run:
        return Ran(planned)
    by = owner(Caller(operator_name()))
    return await run_one_by_one(
        dependencies,
        planned,
        lambda work, one: import_row(work, one, by),
        "importing",
        quiet=quiet,
    )


def _show(outcomes: Sequence[RowOutcome], *, dry_run: bool, as_json: bool) -> None:
    shown = import_response(outcomes, dry_run=dry_run)
    if as_json:
        show_json(to_builtins(shown))
        return
    show_table(
        ["LINE", "ENTITY", "RESULT", "COLUMN", "PROBLEM"],
        [
            [str(row.line), ascii(row.entity_id)[1:-1], row.result, row.column, row.problem]
            for row in shown.rows
        ],
    )
    show_facts({"new": shown.new, "unchanged": shown.unchanged, "refused": shown.refused})
    if dry_run:
        typer.echo("Nothing was changed. Run it without --dry-run to import.")
