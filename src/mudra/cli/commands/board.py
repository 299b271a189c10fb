"""mudra board: what needs attention this week."""

import msgspec
import typer

from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import show_json, show_table
from mudra.http.response.operator_responses import board_row
from mudra.identity.operators.operator import Scope
from mudra.overview.operator_dashboard import Board
from mudra.overview.operator_dashboard import board as gather
from mudra.shared.time_text import iso_ms


def board(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what needs attention this week, the worst first, each with the next act."""

    async def act(dependencies: Dependencies) -> Board:
        async with dependencies.unit_of_work() as work:
            return await gather(work, frozenset(Scope))

    rows = with_store(act, data_dir).rows
    if as_json:
        show_json([msgspec.to_builtins(board_row(row)) for row in rows])
    elif rows:
        show_table(
            ["", "SINCE OR BY", "WHAT", "NEXT STEP"],
            [[row.urgency.value, iso_ms(row.at), row.what, row.next_act] for row in rows],
        )
    else:
        typer.echo("Nothing needs attention this week.")
