"""mudra session: your own sessions of the console."""

from typing import Annotated

import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, read_as, signed_in
from mudra.cli.client.api_responses import Sessions, Status
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import show_facts, show_json, show_table

app = typer.Typer(no_args_is_help=True)


@app.command("list", epilog="Example: mudra session list --json")
def list_sessions(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """List your open sessions of the console, newest first."""
    entry = signed_in(base_url)
    answer = get_json(f"{entry.base_url}/v1/user/session/list", {}, entry)
    sessions = read_as(answer, Sessions).sessions
    if as_json:
        show_json(answer["sessions"])
    elif sessions:
        show_table(
            ["SESSION", "STARTED", "LAST USED", "FROM"],
            [[one.session_id, one.began_at, one.last_used_at, one.address] for one in sessions],
        )
    else:
        typer.echo("You are not signed in to the console anywhere.")


@app.command(epilog="Example: mudra session end 5d0c9a3e71f2b846")
def end(
    session_id: Annotated[str, typer.Argument(help="ID of the session, from mudra session list.")],
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """End one of your sessions: that browser must sign in again."""
    entry = signed_in(base_url)
    url = f"{entry.base_url}/v1/user/session/end"
    response = post_json(url, {"sessionId": session_id}, entry)
    if as_json:
        show_json(response)
    else:
        show_facts({"session": session_id, "result": read_as(response, Status).status})
