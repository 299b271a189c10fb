"""mudra health webhooks, webhook, unwebhook and more: where alarms are posted."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeVar
from uuid import UUID

import msgspec
import typer

from mudra.audit.event import Caller
from mudra.cli.local.operator_name import operator_name
from mudra.cli.local.program import Dependencies
from mudra.cli.local.settings import AsJson, DataDir
from mudra.cli.local.store import with_store
from mudra.cli.output.output import fail, show_facts, show_json, show_table
from mudra.http.response.alarm_responses import attempts_response, webhook_details
from mudra.metrics.notifications.webhook import AddedWebhook, Attempt, Owner, Webhook
from mudra.metrics.notifications.webhook_formats import Format
from mudra.shared.refusal import Refusal
from mudra.unit_of_work import UnitOfWork

T = TypeVar("T")
_WEBHOOK = "7d8e0c5e-0f2c-4f7c-9b49-0d6f6a1c2b3d"
_Id = Annotated[UUID, typer.Argument(help="ID, as mudra health webhooks shows it.")]

app = typer.Typer()


@app.command(epilog="Example: mudra health webhooks --json")
def webhooks(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List webhooks, with their undelivered messages and the last problem."""

    async def act(work: UnitOfWork, _: datetime) -> list[Webhook]:
        return list(await work.webhooks.list())

    shown = [webhook_details(one) for one in _done(act, data_dir)]
    if as_json:
        show_json([msgspec.to_builtins(one) for one in shown])
        return
    show_table(
        ["ID", "ENTITY", "URL", "LAST DELIVERED", "WAITING", "PROBLEM"],
        [
            [
                *(one.webhook_id, one.entity_id or "all", one.url),
                *(one.delivered_at or "never", str(one.waiting), one.problem),
            ]
            for one in shown
        ],
    )


@app.command("webhook", epilog="Example: mudra health webhook https://alarms.network.example/mudra")
def add_webhook(
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
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Post alarms to an address; shows the key that signs them, only once."""

    async def act(work: UnitOfWork, now: datetime) -> AddedWebhook | Refusal:
        caller, owner = Caller(operator_name()), Owner(entity)
        return await work.webhooks.add(owner, url, caller, now, fips=fips or (), format_=format_)

    _show_added(_done(act, data_dir), as_json=as_json)


@app.command(epilog=f"Example: mudra health unwebhook {_WEBHOOK}")
def unwebhook(webhook_id: _Id, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Remove a webhook with its undelivered messages."""

    async def act(work: UnitOfWork, _: datetime) -> Webhook | Refusal:
        return await work.webhooks.remove(str(webhook_id), None, Caller(operator_name()))

    _show(webhook_details(_done(act, data_dir)), as_json=as_json)


@app.command("test-webhook", epilog=f"Example: mudra health test-webhook {_WEBHOOK}")
def send_test(webhook_id: _Id, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Send a test message; mudra health deliveries shows what became of it."""

    async def act(work: UnitOfWork, now: datetime) -> Webhook | Refusal:
        caller = Caller(operator_name())
        return await work.webhooks.send_test(str(webhook_id), None, caller, now)

    _show(webhook_details(_done(act, data_dir)), as_json=as_json)


@app.command(epilog=f"Example: mudra health rotate-webhook {_WEBHOOK}")
def rotate_webhook(webhook_id: _Id, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Make a new key, shown only once; the previous one signs as well for a day."""

    async def act(work: UnitOfWork, now: datetime) -> AddedWebhook | Refusal:
        return await work.webhooks.rotate(str(webhook_id), None, Caller(operator_name()), now)

    _show_added(_done(act, data_dir), as_json=as_json)


@app.command(epilog=f"Example: mudra health deliveries {_WEBHOOK} --json")
def deliveries(webhook_id: _Id, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the latest deliveries and failures of a webhook, the newest first."""

    async def act(work: UnitOfWork, _: datetime) -> list[Attempt] | Refusal:
        return await work.webhooks.attempts(str(webhook_id), None)

    shown = attempts_response(_done(act, data_dir))
    assert not isinstance(shown, Refusal)
    if as_json:
        show_json([msgspec.to_builtins(one) for one in shown.attempts])
        return
    show_table(
        ["AT", "EVENT", "ATTEMPT", "RESULT"],
        [
            [one.at, one.event, str(one.attempt), one.problem or "delivered"]
            for one in shown.attempts
        ],
    )


def _done(
    act: Callable[[UnitOfWork, datetime], Awaitable[T | Refusal]], data_dir: Path | None
) -> T:
    """Act in one transaction, which gives the time; a refusal ends the command with its text."""

    async def within(dependencies: Dependencies) -> T | Refusal:
        async with dependencies.unit_of_work() as work:
            return await act(work, await work.people.now())

    outcome = with_store(within, data_dir)
    if isinstance(outcome, Refusal):
        fail(outcome.sentence)
    return outcome


def _show_added(added: AddedWebhook, *, as_json: bool) -> None:
    _show(webhook_details(added.webhook), added.secret.reveal(), as_json=as_json)


def _show(shown: msgspec.Struct, secret: str = "", *, as_json: bool) -> None:
    facts = msgspec.to_builtins(shown) | ({"secret": secret} if secret else {})
    if as_json:
        show_json(facts)
    else:
        show_facts(facts)
