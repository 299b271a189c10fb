"""mudra alarms: which alarms about incidents you get, how and when."""

from typing import Annotated

import msgspec
import typer

from mudra.cli.client.api_client import BaseUrl, get_json, post_json, read_as, signed_in
from mudra.cli.client.api_responses import (
    AlarmPreferences,
    OneOwnWebhook,
    OwnWebhooks,
    WebhookAttempt,
    WebhookAttempts,
)
from mudra.cli.client.tokens_file import SignedIn
from mudra.cli.local.settings import AsJson
from mudra.cli.output.output import Exit, fail, show_facts, show_json, show_table
from mudra.metrics.notifications.webhook_formats import Format

app = typer.Typer(no_args_is_help=True)


@app.command(epilog="Example: mudra alarms show --json")
def show(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show your preferences."""
    _show(_current(signed_in(base_url)), as_json=as_json)


@app.command(
    "set",
    epilog="Example: mudra alarms set --time-zone Asia/Kolkata --quiet 22:00-07:00",
)
def change(  # noqa: PLR0913, PLR0917  # one option for each preference
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
        typer.Option(help="As an operator, least severity about the network; major by default."),
    ] = None,
    channel: Annotated[
        str | None, typer.Option(help="How alarms come: email, webhook, both, none.")
    ] = None,
    api: Annotated[
        list[str] | None,
        typer.Option(help="APIs to hear of by code, such as fif; several times. all for all."),
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
        "channel": channel,
        "apis": [] if api == ["all"] else api,
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
            "channel": found.channel,
            "time zone": found.time_zone,
            "quiet hours": quiet,
            "comes in quiet hours": found.breaks_quiet,
            "of your entities": found.of_members,
            "of the network": found.of_network,
            "APIs": ", ".join(found.apis) or "all",
        }
    )


def _url(entry: SignedIn) -> str:
    return f"{entry.base_url}/v1/user/alarm/preferences"


@app.command("webhook", epilog="Example: mudra alarms webhook")
def own_webhook(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Show your own webhook and its latest deliveries."""
    entry = signed_in(base_url)
    known = read_as(get_json(_webhooks(entry), {}, entry), OwnWebhooks).webhooks
    attempts = _attempts(entry, known[0].webhook_id) if known else []
    if as_json:
        show_json(
            {
                "webhook": msgspec.to_builtins(known[0]) if known else None,
                "attempts": msgspec.to_builtins(attempts),
            }
        )
        return
    if not known:
        show_facts({"webhook": "none: mudra alarms add-webhook URL adds one"})
        return
    show_facts(msgspec.to_builtins(known[0]))
    show_table(
        ["AT", "EVENT", "ATTEMPT", "RESULT"],
        [[one.at, one.event, str(one.attempt), one.problem or "delivered"] for one in attempts],
    )


@app.command(
    epilog="Example: mudra alarms add-webhook https://hooks.slack.example/T0/B0/x --format slack"
)
def add_webhook(
    url: Annotated[str, typer.Argument(help="Where your alarms are posted; https.")],
    format_: Annotated[
        Format, typer.Option("--format", help="What the address reads: our own, or a chat's.")
    ] = Format.STANDARD,
    base_url: BaseUrl = None,
    as_json: AsJson = False,
) -> None:
    """Add your own webhook; shows the key that signs its messages, only once."""
    entry = signed_in(base_url)
    body: dict[str, object] = {"url": url, "format": format_.value}
    _show_webhook(post_json(_webhooks(entry), body, entry), as_json=as_json)


@app.command("test-webhook", epilog="Example: mudra alarms test-webhook")
def send_test(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Send a test message to your own webhook."""
    _act("test", base_url, as_json=as_json)


@app.command(epilog="Example: mudra alarms rotate-webhook")
def rotate_webhook(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Make a new key for your own webhook; the previous one signs as well for a day."""
    _act("rotate", base_url, as_json=as_json)


@app.command(epilog="Example: mudra alarms remove-webhook")
def remove_webhook(base_url: BaseUrl = None, as_json: AsJson = False) -> None:
    """Remove your own webhook; alarms that would be posted to it come by email."""
    _act("remove", base_url, as_json=as_json)


def _act(act: str, base_url: str | None, *, as_json: bool) -> None:
    entry = signed_in(base_url)
    known = read_as(get_json(_webhooks(entry), {}, entry), OwnWebhooks).webhooks
    if not known:
        fail("you have no webhook of your own: mudra alarms add-webhook URL")
    answer = post_json(f"{_webhooks(entry)}/{known[0].webhook_id}/{act}", {}, entry)
    _show_webhook(answer, as_json=as_json)


def _show_webhook(answer: dict[str, object], *, as_json: bool) -> None:
    found = read_as(answer, OneOwnWebhook)
    facts = {**msgspec.to_builtins(found.webhook)}
    if found.secret:
        facts["secret"] = found.secret
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)


def _attempts(entry: SignedIn, webhook_id: str) -> list[WebhookAttempt]:
    answer = get_json(f"{_webhooks(entry)}/{webhook_id}/attempts", {}, entry)
    return read_as(answer, WebhookAttempts).attempts


def _webhooks(entry: SignedIn) -> str:
    return f"{entry.base_url}/v1/user/alarm/webhooks"
