"""mudra member bulk: one act on many members."""

from collections.abc import Sequence
from typing import Annotated

import typer
from msgspec import UNSET, Struct, to_builtins

from mudra.audit.event import Caller
from mudra.cli.local.one_by_one import Ran, run_one_by_one
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.http.response.bulk_responses import bulk_response
from mudra.identity.memberships.bulk_act import (
    BulkAct,
    BulkOutcome,
    TooManyMembers,
    act_on_member,
    checked_reason,
    export_chosen,
    exported,
    preview_bulk,
)
from mudra.identity.operators.person_rule import owner


class _Acted(Struct, frozen=True):
    ran: Ran[BulkOutcome]
    csv: str = ""


def add_commands(app: typer.Typer) -> None:
    """Add the command of this file."""
    app.command(
        "bulk", epilog="Example: mudra member bulk invite KAVERI-FIP TAPI-FIP --dry-run --json"
    )(bulk)


def bulk(
    act: Annotated[BulkAct, typer.Argument(help="What to do to each.")],
    entity_ids: Annotated[list[str], typer.Argument(help="IDs of the members, at most 500.")],
    reason: Annotated[str, typer.Option(help="Why, for the audit; a suspension needs it.")] = "",
    dry_run: Annotated[
        bool, typer.Option(help="Show what becomes of each member; change nothing.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Invite admins who have not activated again, suspend, or export many members.

    Each member is acted on or refused for itself.
    """
    wrong = None if dry_run else checked_reason(act, reason)
    if wrong is not None:
        fail(f"--{wrong.field} {wrong.problem}", Exit.USAGE)

    async def run(dependencies: Dependencies) -> _Acted | TooManyMembers:
        return await _run(
            dependencies, act, entity_ids, "" if dry_run else reason, dry_run=dry_run, quiet=as_json
        )

    acted = with_store(run, data_dir)
    if isinstance(acted, TooManyMembers):
        fail(acted.sentence, Exit.USAGE)
    _show(act, acted, dry_run=dry_run, as_json=as_json)
    if acted.ran.interrupted:
        fail(
            f"the database did not answer after {len(acted.ran.outcomes)} members: "
            "run the command again with the others",
            Exit.UNREACHABLE,
        )
    if any(one.refusal for one in acted.ran.outcomes):
        raise typer.Exit(int(Exit.FAILED))


async def _run(  # the words of the command
    dependencies: Dependencies,
    act: BulkAct,
    entity_ids: Sequence[str],
    reason: str,
    *,
    dry_run: bool,
    quiet: bool,
) -> _Acted | TooManyMembers:
    """Say what becomes of each member, then act on it."""
    by = owner(Caller(operator_name()))
    async with dependencies.unit_of_work() as work:
        planned = await preview_bulk(work, act, entity_ids, by)
        if isinstance(planned, TooManyMembers):
            return planned
        if dry_run:
            return _Acted(Ran(planned))
        if act is BulkAct.EXPORT:
            return _Acted(Ran(exported(planned)), await export_chosen(work, entity_ids))
    reached: set[str] = set()
    ran = await run_one_by_one(
        dependencies,
        planned,
        lambda work, one: act_on_member(work, act, one, reason, by, reached),
        "working",
        quiet=quiet,
    )
    return _Acted(ran)


def _show(act: BulkAct, acted: _Acted, *, dry_run: bool, as_json: bool) -> None:
    csv = acted.csv or UNSET
    shown = bulk_response(act, acted.ran.outcomes, dry_run=dry_run, csv=csv)
    if as_json:
        show_json(to_builtins(shown))
        return
    if acted.csv:
        typer.echo(acted.csv, nl=False)
        return
    show_table(
        ["ENTITY", "RESULT", "PEOPLE", "PROBLEM"],
        [
            [ascii(one.entity_id)[1:-1], one.result, ", ".join(one.people), one.problem]
            for one in shown.members
        ],
    )
    show_facts({"ready": shown.ready, "done": shown.done, "refused": shown.refused})
    if dry_run:
        typer.echo("Nothing was changed. Run it without --dry-run to act.")
