"""mudra member bulk: one act on many members."""

import sys
from typing import Annotated, Any

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import owner_command
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit, fail, show_facts, show_table
from mudra.cli.output.shown import Shown
from mudra.cli.output.steps import rows_shown
from mudra.identity.memberships.in_bulk.bulk_rule import BulkAct, checked_reason


def add_commands(app: typer.Typer) -> None:
    """Add the command of this file."""
    owner_command(app, "mudra member bulk invite KAVERI-FIP TAPI-FIP --dry-run --json")(bulk)


async def bulk(
    api: Api,
    act: Annotated[BulkAct, typer.Argument(help="What to do to each.")],
    entity_ids: Annotated[list[str], typer.Argument(help="IDs of the members, at most 500.")],
    reason: Annotated[str, typer.Option(help="Why, for the audit; a suspension needs it.")] = "",
    dry_run: Annotated[
        bool, typer.Option(help="Show what becomes of each member; change nothing.")
    ] = False,
) -> Shown:
    """Invite admins who have not activated again, suspend, or export many members.

    Each member is acted on or refused for itself.
    """
    wrong = None if dry_run else checked_reason(act, reason)
    if wrong is not None:
        fail(f"--{wrong.field} {wrong.problem}", Exit.USAGE)
    body = {"act": act.value, "reason": "" if dry_run else reason, "dryRun": dry_run}
    members: dict[str, dict[str, Any]] = {}
    left, csv = list(dict.fromkeys(entity_ids)), ""
    with rows_shown(quiet=not sys.stderr.isatty()) as on_rows:
        while left:
            sent = {**body, "entityIds": left}
            answer = await api.post("/operator/v1/members/bulk", sent, {"entityIds": "ENTITY_IDS"})
            members |= {one["entityId"]: one for one in answer["members"]}
            before, left = left, [m["entityId"] for m in answer["members"] if m["result"] == "left"]
            if left == before:
                raise CommandFailed("no member was begun in time: run the command again", Exit.WAIT)
            csv = answer.get("csv", "")
            on_rows(act.value, len(members) - len(left))
    counts = {
        result: sum(one["result"] == result for one in members.values())
        for result in ("ready", "done", "refused", "left")
    }

    def show() -> None:
        if csv:
            typer.echo(csv, nl=False)
            return
        show_table(
            ["ENTITY", "RESULT", "PEOPLE", "PROBLEM"],
            [
                [
                    *(ascii(one["entityId"])[1:-1], one["result"]),
                    *(", ".join(one["people"]), one["problem"]),
                ]
                for one in members.values()
            ],
        )
        show_facts({name: counts[name] for name in ("ready", "done", "refused")})
        if dry_run:
            typer.echo("Nothing was changed. Run it without --dry-run to act.")

    document = {"act": act.value, "dryRun": dry_run, **counts, "members": [*members.values()]}
    return Shown(
        document | ({"csv": csv} if csv else {}),
        show,
        Exit.FAILED if counts["refused"] else Exit.OK,
    )
