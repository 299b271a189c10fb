"""mudra board: what breaks this week."""

import typer

from mudra.cli.output import show_json, show_table
from mudra.cli.settings import AsJson, DataDir
from mudra.cli.store import with_rooms
from mudra.http.envelope import iso_ms
from mudra.http.operator_board import board_members
from mudra.identity.roster import Scope
from mudra.runtime.board import Board
from mudra.runtime.board import board as gather
from mudra.runtime.rooms import Rooms


def board(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show what breaks this week, the worst first, each with the next act."""

    async def act(rooms: Rooms) -> Board:
        async with rooms.open_work() as work:
            return await gather(work, frozenset(Scope))

    rows = with_rooms(act, data_dir).rows
    if as_json:
        show_json([board_members(row) for row in rows])
    elif rows:
        show_table(
            ["", "SINCE OR BY", "WHAT", "NEXT ACT"],
            [[row.urgency.value, iso_ms(row.at), row.what, row.next_act] for row in rows],
        )
    else:
        typer.echo("Nothing breaks this week, as far as it can be foreseen.")
