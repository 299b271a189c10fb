"""mudra alarms: which emails about incidents you get, and when."""

from typing import Annotated

import msgspec
import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, read_as, signed_in
from mudra.cli.client.api_responses import AlarmPreferences
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail, show_facts, show_json

app = typer.Typer(no_args_is_help=True, help="Your emails about incidents, and your quiet hours.")


@app.command(epilog="Example: mudra alarms show --json")
def show(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show your preferences."""
    _show(_current(signed_in(base_url)), as_json=as_json)


@app.command(
    "set",
    epilog="Example: mudra alarms set --time-zone Asia/Kolkata --quiet 22:00-07:00",
)
def change(
    time_zone: Annotated[
        str | None, typer.Option(help="Time zone of your quiet hours and of times in emails.")
    ] = None,
    quiet: Annotated[
        str | None, typer.Option(help="Quiet hours, such as 22:00-07:00; none to end them.")
    ] = None,
    breaks: Annotated[
        str | None,
        typer.Option(
            help="Least severity that comes in quiet hours: minor, major, critical, none."
        ),
    ] = None,
    of_members: Annotated[
        str | None,
        typer.Option(help="Least severity about your entities: minor, major, critical, none."),
    ] = None,
    of_network: Annotated[
        str | None,
        typer.Option(help="As an operator, least severity about the network; none by default."),
    ] = None,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Change what is named; the rest stays."""
    entry = signed_in(base_url)
    known = _current(entry)
    changes = {
        "timeZone": time_zone,
        "breaksQuiet": breaks,
        "ofMembers": of_members,
        "ofNetwork": of_network,
        **_quiet(quiet),
    }
    body = known | {name: value for name, value in changes.items() if value is not None}
    _show(post_json(_url(entry), body, entry), as_json=as_json)


def _quiet(given: str | None) -> dict[str, str | None]:
    if given is None:
        return {}
    if given == "none":
        return {"quietFrom": "", "quietUntil": ""}
    begins, dash, ends = given.partition("-")
    if not dash:
        fail("--quiet must be two times of day, such as 22:00-07:00, or none", Exit.USAGE)
    return {"quietFrom": begins, "quietUntil": ends}


def _current(entry: SignedIn) -> dict[str, object]:
    answer = get_json(_url(entry), {}, entry)
    found: dict[str, object] = msgspec.to_builtins(read_as(answer, AlarmPreferences))
    return found


def _show(answer: dict[str, object], *, as_json: bool) -> None:
    found = read_as(answer, AlarmPreferences)
    if as_json:
        show_json(msgspec.to_builtins(found))
        return
    quiet = f"{found.quiet_from} to {found.quiet_until}" if found.quiet_from else "none"
    show_facts(
        {
            "time zone": found.time_zone,
            "quiet hours": quiet,
            "comes in quiet hours": found.breaks_quiet,
            "of your entities": found.of_members,
            "of the network": found.of_network,
        }
    )


def _url(entry: SignedIn) -> str:
    return f"{entry.base_url}/v1/user/alarm/preferences"
