"""mudra board: what needs attention this week."""

import msgspec
import typer

from mudra.cli.local.program import Dependencies, program
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.output.output import show_json, show_table
from mudra.identity.operators.operator import Scope
from mudra.shared.time_text import iso_ms


def board(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what needs attention this week, the worst first, each with the next step."""
    from mudra.http.response.operator_responses import (  # noqa: PLC0415  # loads the database
        dashboard_row,
    )
    from mudra.overview.board.operator_dashboard import (  # noqa: PLC0415  # loads the database
        Dashboard,
        read_dashboard,
    )

    async def act(dependencies: Dependencies) -> Dashboard:
        async with dependencies.transaction() as tx:
            return await read_dashboard(tx, frozenset(Scope))

    found = program().in_store(act, data_dir)
    rows, since = found.rows, found.unjudged_since
    if as_json:
        show_json([msgspec.to_builtins(dashboard_row(row)) for row in rows])
    elif rows:
        show_table(
            ["", "SINCE OR BY", "WHAT", "NEXT STEP"],
            [[row.urgency.value, iso_ms(row.at), row.what, row.next_step] for row in rows],
        )
    else:
        typer.echo("Nothing needs attention this week.")
    more = sum(found.counts.values()) - len(rows)
    if more and not as_json:
        typer.echo(f"and {more:,} more of the same kinds")
    if since and not as_json:
        typer.echo(f"What is broken now is not known: no reports were judged since {iso_ms(since)}")
