"""mudra alarms: which alarms about incidents you get, how and when."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from mudra.cli.client.api import Answer, Api, given
from mudra.cli.command import user_command
from mudra.cli.output.output import Exit, fail, show_facts, show_table
from mudra.cli.output.shown import Shown, facts
from mudra.metrics.notifications.webhook_formats import Format

_PREFERENCES = "v1/user/alarm/preferences"
_WEBHOOKS = "v1/user/alarm/webhooks"
_FIELDS = (
    *("timeZone", "quietFrom", "quietUntil", "breaksQuiet"),
    *("ofMembers", "ofNetwork", "channel", "apis", "levelReports"),
)
_OF_WEBHOOK = (
    *("webhookId", "url", "format", "waiting"),
    *("deliveredAt", "problem", "previousKeyUntil"),
)
app = typer.Typer(no_args_is_help=True)


@user_command(app, "mudra alarms show --json")
async def show(api: Api) -> Shown:
    """Show your preferences."""
    return _shown(await api.get(_PREFERENCES))


@user_command(app, "mudra alarms set --time-zone Asia/Kolkata --quiet 22:00-07:00", "set")
async def change(  # noqa: PLR0913, PLR0917  # one option for each preference
    api: Api,
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
    api_: Annotated[
        list[str] | None,
        typer.Option(
            "--api", help="APIs to hear of by code, such as fif; several times. all for all."
        ),
    ] = None,
    level_reports: Annotated[
        bool | None,
        typer.Option(
            "--level-reports/--no-level-reports",
            help="Whether monthly reports of service levels come by email.",
        ),
    ] = None,
) -> Shown:
    """Change what is named; the rest stays."""
    changes: dict[str, object] = {
        "timeZone": time_zone,
        "breaksQuiet": breaks,
        "ofMembers": of_members,
        "ofNetwork": of_network,
        "channel": channel,
        "apis": [] if api_ == ["all"] else api_,
        "levelReports": level_reports,
        **_quiet(quiet),
    }
    return _shown(await api.post(_PREFERENCES, given(changes)))


def _quiet(typed: str | None) -> dict[str, str | None]:
    if typed is None:
        return {}
    if typed == "none":
        return {"quietFrom": "", "quietUntil": ""}
    begins, dash, ends = typed.partition("-")
    if not dash:
        fail("--quiet must be two times of day, such as 22:00-07:00, or none", Exit.USAGE)
    return {"quietFrom": begins, "quietUntil": ends}


def _shown(found: Answer) -> Shown:
    quiet = f"{found['quietFrom']} to {found['quietUntil']}" if found["quietFrom"] else "none"
    return facts(
        {
            "channel": found["channel"],
            "time zone": found["timeZone"],
            "quiet hours": quiet,
            "comes in quiet hours": found["breaksQuiet"],
            "of your entities": found["ofMembers"],
            "of the network": found["ofNetwork"],
            "APIs": ", ".join(found.get("apis", [])) or "all",
            "reports of service levels": "by email" if found["levelReports"] else "no email",
        },
        _picked(found, _FIELDS),
    )


@user_command(app, "mudra alarms webhook", "webhook")
async def own_webhook(api: Api) -> Shown:
    """Show your own webhook and its latest deliveries."""
    known = (await api.get(_WEBHOOKS))["webhooks"]
    if not known:
        none = {"webhook": "none: mudra alarms add-webhook URL adds one"}
        return facts(none, {"webhook": None, "attempts": []})
    own = _picked(known[0], _OF_WEBHOOK)
    attempts = (await api.get(f"{_WEBHOOKS}/{own['webhookId']}/attempts"))["attempts"]

    def show() -> None:
        show_facts(own)
        show_table(
            ["AT", "EVENT", "ATTEMPT", "RESULT"],
            [
                [one["at"], one["event"], str(one["attempt"]), one["problem"] or "delivered"]
                for one in attempts
            ],
        )

    return Shown({"webhook": own, "attempts": attempts}, show)


@user_command(app, "mudra alarms add-webhook https://hooks.slack.example/T0/B0/x --format slack")
async def add_webhook(
    api: Api,
    url: Annotated[str, typer.Argument(help="Where your alarms are posted; https.")],
    format_: Annotated[
        Format, typer.Option("--format", help="What the address reads: our own, or a chat's.")
    ] = Format.STANDARD,
) -> Shown:
    """Add your own webhook; shows the key that signs its messages, only once."""
    return _webhook(await api.post(_WEBHOOKS, {"url": url, "format": format_.value}))


@user_command(app, "mudra alarms test-webhook", "test-webhook")
async def send_test(api: Api) -> Shown:
    """Send a test message to your own webhook."""
    return await _act(api, "test")


@user_command(app, "mudra alarms rotate-webhook")
async def rotate_webhook(api: Api) -> Shown:
    """Make a new key for your own webhook; the previous one signs as well for a day."""
    return await _act(api, "rotate")


@user_command(app, "mudra alarms remove-webhook")
async def remove_webhook(api: Api) -> Shown:
    """Remove your own webhook; alarms that would be posted to it come by email."""
    return await _act(api, "remove")


async def _act(api: Api, act: str) -> Shown:
    known = (await api.get(_WEBHOOKS))["webhooks"]
    if not known:
        fail("you have no webhook of your own: mudra alarms add-webhook URL")
    return _webhook(await api.post(f"{_WEBHOOKS}/{known[0]['webhookId']}/{act}"))


def _webhook(answer: Answer) -> Shown:
    secret = {"secret": answer["secret"]} if "secret" in answer else {}
    return facts(_picked(answer["webhook"], _OF_WEBHOOK) | secret)


def _picked(found: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: found[name] for name in names}
