"""mudra session: your own sessions of the console."""

from typing import Annotated

import typer

from mudra.cli.client.api import Api
from mudra.cli.command import user_command
from mudra.cli.output.shown import Shown, facts, line, table

app = typer.Typer(no_args_is_help=True)


@user_command(app, "mudra session list --json", "list")
async def list_sessions(api: Api) -> Shown:
    """List your open sessions of the console, newest first."""
    sessions = (await api.get("v1/user/session/list"))["sessions"]
    if not sessions:
        return line("You are not signed in to the console anywhere.", sessions)
    names = ("sessionId", "beganAt", "lastUsedAt", "address")
    rows = [[one[name] for name in names] for one in sessions]
    return table(["SESSION", "STARTED", "LAST USED", "FROM"], rows, sessions)


@user_command(app, "mudra session end 5d0c9a3e71f2b846")
async def end(
    api: Api,
    session_id: Annotated[str, typer.Argument(help="ID of the session, from mudra session list.")],
) -> Shown:
    """End one of your sessions: that browser must sign in again."""
    done = await api.post("v1/user/session/end", {"sessionId": session_id})
    return facts({"session": session_id, "result": done["status"]}, done)
