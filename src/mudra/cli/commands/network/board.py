"""mudra board: what needs attention this week."""

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import as_owner
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import show_table
from mudra.cli.output.shown import Shown


def board(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what needs attention this week, the worst first, each with the next step."""
    as_owner(_read, data_dir).write(as_json=as_json)


async def _read(api: Api) -> Shown:
    found = await api.get("/operator/v1/board")
    return Shown(found["rows"], lambda: _show(found))


def _show(found: Answer) -> None:
    rows, since = found["rows"], found["unjudgedSince"]
    if rows:
        show_table(
            ["", "SINCE OR BY", "WHAT", "NEXT STEP"],
            [[row["urgency"], row["at"], row["what"], row["nextAct"]] for row in rows],
        )
    else:
        typer.echo("Nothing needs attention this week.")
    if more := sum(found["counts"].values()) - len(rows):
        typer.echo(f"and {more:,} more of the same kinds")
    if since:
        typer.echo(f"What is broken now is not known: no reports were judged since {since}")
