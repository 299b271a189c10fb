"""mudra health webhooks, webhook, unwebhook and more: where alarms are posted."""

from typing import Annotated
from uuid import UUID

import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import owner_command
from mudra.cli.output.shown import Shown, facts, table
from mudra.metrics.notifications.webhook_formats import Format

_WEBHOOK = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_PATH = "/operator/v1/health/webhooks"
_Id = Annotated[UUID, typer.Argument(help="ID, as mudra health webhooks shows it.")]

app = typer.Typer()


@owner_command(app, "mudra health webhooks --json")
async def webhooks(api: Api) -> Shown:
    """List webhooks, with their undelivered messages and the last problem."""
    found = (await api.get(_PATH))["webhooks"]
    return table(
        ["ID", "ENTITY", "URL", "LAST DELIVERED", "WAITING", "PROBLEM"],
        [
            [
                *(one["webhookId"], one["entityId"] or "all", one["url"]),
                *(one["deliveredAt"] or "never", str(one["waiting"]), one["problem"]),
            ]
            for one in found
        ],
        found,
    )


@owner_command(app, "mudra health webhook https://alarms.network.example/mudra", "webhook")
async def add_webhook(
    api: Api,
    url: Annotated[str, typer.Argument(help="Where alarms are posted; https.")],
    entity: Annotated[
        str, typer.Option("--entity", help="Only this entity; all when left out.")
    ] = "",
    fips: Annotated[
        list[str] | None, typer.Option("--fip", help="A FIP whose incidents a FIU receives.")
    ] = None,
    format_: Annotated[
        Format, typer.Option("--format", help="What the address reads: our own, or a chat's.")
    ] = Format.STANDARD,
) -> Shown:
    """Post alarms to an address; shows the key that signs them, only once."""
    body = {"url": url, "entityId": entity, "fips": [*(fips or ())], "format": format_.value}
    return _shown(await api.post(_PATH, body))


@owner_command(app, f"mudra health unwebhook {_WEBHOOK}")
async def unwebhook(api: Api, webhook_id: _Id) -> Shown:
    """Remove a webhook with its undelivered messages."""
    return _shown(await api.post(f"{_PATH}/{webhook_id}/remove"))


@owner_command(app, f"mudra health test-webhook {_WEBHOOK}", "test-webhook")
async def send_test(api: Api, webhook_id: _Id) -> Shown:
    """Send a test message; mudra health deliveries shows what became of it."""
    return _shown(await api.post(f"{_PATH}/{webhook_id}/test"))


@owner_command(app, f"mudra health rotate-webhook {_WEBHOOK}")
async def rotate_webhook(api: Api, webhook_id: _Id) -> Shown:
    """Make a new key, shown only once; the previous one signs as well for a day."""
    return _shown(await api.post(f"{_PATH}/{webhook_id}/rotate"))


@owner_command(app, f"mudra health deliveries {_WEBHOOK} --json")
async def deliveries(api: Api, webhook_id: _Id) -> Shown:
    """List the latest deliveries and failures of a webhook, the newest first."""
    found = (await api.get(f"{_PATH}/{webhook_id}/attempts"))["attempts"]
    return table(
        ["AT", "EVENT", "ATTEMPT", "RESULT"],
        [
            [one["at"], one["event"], str(one["attempt"]), one["problem"] or "delivered"]
            for one in found
        ],
        found,
    )


def _shown(answer: Answer) -> Shown:
    return facts(answer["webhook"] | ({"secret": answer["secret"]} if "secret" in answer else {}))
