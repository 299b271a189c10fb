"""mudra board: what breaks this week."""

import typer

from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_rooms
from mudra.cli.output.output import show_json, show_table
from mudra.http.operator.dashboard import board_fields
from mudra.identity.operators.operator import Scope
from mudra.overview.operator_dashboard import Board
from mudra.overview.operator_dashboard import board as gather
from mudra.shared.time_text import iso_ms


def board(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what breaks this week, the worst first, each with the next act."""

    async def act(dependencies: Dependencies) -> Board:
        async with dependencies.unit_of_work() as work:
            return await gather(work, frozenset(Scope))

    rows = with_rooms(act, data_dir).rows
    if as_json:
        show_json([board_fields(row) for row in rows])
    elif rows:
        show_table(
            ["", "SINCE OR BY", "WHAT", "NEXT ACT"],
            [[row.urgency.value, iso_ms(row.at), row.what, row.next_act] for row in rows],
        )
    else:
        typer.echo("Nothing breaks this week, as far as it can be foreseen.")
