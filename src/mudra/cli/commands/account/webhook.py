"""mudra webhook: the events of a webhook, sent again or forwarded to a program of yours."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlsplit
from uuid import UUID

import httpx2
import typer

from mudra.cli.client.api import Answer, Api
from mudra.cli.command import user_command
from mudra.cli.local.option_group import with_options
from mudra.cli.local.program import program
from mudra.cli.output.output import Exit, fail
from mudra.cli.output.shown import Shown, facts, table
from mudra.client.errors import kind_of_failure

_EVENT: Final = "0195562f-7a02-7d19-8c41-5b0e9d6f3a21"
_OF_NETWORK: Final = "/operator/v1/health/webhooks"
_OF_PERSON: Final = "v1/user/alarm/webhooks"
_OF_ENTITY: Final = "/metrics/perf/v1"
_PAUSE_S: Final = 2.0
_LIMIT_S: Final = 10.0
app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True, kw_only=True)
class Which:
    """The options that say whose webhook it is, and which."""

    webhook: Annotated[
        UUID | None, typer.Option("--webhook", help="ID of the webhook, where there are several.")
    ] = None
    entity: Annotated[
        str, typer.Option("--entity", help="One of this entity, which you administer.")
    ] = ""
    prefix: Annotated[
        str, typer.Option("--prefix", help="Path of the network's metrics, of an entity's.")
    ] = _OF_ENTITY
    own: Annotated[bool, typer.Option("--own", help="The one for your own alarms.")] = False

    async def path(self, api: Api) -> tuple[Api, str]:
        """Return the caller and the path of the webhook."""
        if self.entity:
            api = await api.of_entity(self.entity)
        of = f"{self.prefix}/webhooks" if self.entity else _OF_PERSON if self.own else _OF_NETWORK
        found = (await api.get(of))["webhooks"]
        # An operator's list has those of members too, which are named by --webhook alone.
        meant = [one for one in found if of != _OF_NETWORK or not one["entityId"]]
        if self.webhook is not None:
            meant = [one for one in found if one["webhookId"] == str(self.webhook)] or meant
        if not meant:
            fail("there is no webhook whose events could be shown: add one first", Exit.USAGE)
        ids = [one["webhookId"] for one in meant]
        if len(ids) > 1 or self.webhook not in {None, UUID(ids[0])}:
            fail(f"name one of them: --webhook {', --webhook '.join(ids)}", Exit.USAGE)
        return api, f"{of}/{ids[0]}"


@user_command(app, "mudra webhook events --entity KAVERI-FIP --json")
@with_options(Which)
async def events(which: Which, api: Api) -> Shown:
    """List the latest 50 events of a webhook: delivered, failed and waiting ones."""
    caller, path = await which.path(api)
    found = (await caller.get(f"{path}/events"))["events"]
    return table(
        ["ID", "MADE", "EVENT", "STATE", "ATTEMPTS", "PROBLEM"],
        [
            [
                *(one["messageId"], one["madeAt"], one["event"], one["state"]),
                *(str(one["attempts"]), one["problem"]),
            ]
            for one in found
        ],
        found,
    )


@user_command(app, f"mudra webhook resend {_EVENT}")
@with_options(Which)
async def resend(
    which: Which,
    api: Api,
    event: Annotated[UUID, typer.Argument(help="ID, as mudra webhook events shows it.")],
) -> Shown:
    """Send an event once more, under the same webhook-id; at most 20 in an hour."""
    caller, path = await which.path(api)
    return facts((await caller.post(f"{path}/events/{event}/resend"))["webhook"])


@user_command(
    app, "mudra webhook listen --entity KAVERI-FIP --forward-to http://127.0.0.1:3000/alarms"
)
@with_options(Which)
async def listen(
    which: Which,
    api: Api,
    forward_to: Annotated[
        str, typer.Option("--forward-to", help="Where your program listens; http or https.")
    ],
    count: Annotated[
        int, typer.Option("--count", min=0, help="End after so many events; 0 for never.")
    ] = 0,
) -> Shown:
    """Forward each new event of a webhook to a program of yours, until Ctrl-C.

    The webhook goes on getting them as well. They are signed with a key of this session, which is
    shown first: let your program check signatures with it.
    """
    if urlsplit(forward_to).scheme not in {"http", "https"} or not urlsplit(forward_to).hostname:
        fail(
            "--forward-to must be an http or https URL, such as http://127.0.0.1:3000/", Exit.USAGE
        )
    caller, path = await which.path(api)
    key = program().webhook_key()
    seen = set(map(_key, (await caller.get(f"{path}/events"))["events"]))
    typer.echo("Signing secret of this session:", err=True)
    typer.echo(key.reveal(), err=True)
    typer.echo(f"Forwarding new events to {forward_to}", err=True)
    forwarded = 0
    async with httpx2.AsyncClient(timeout=_LIMIT_S, trust_env=False) as client:
        while not count or forwarded < count:
            found = (await caller.get(f"{path}/events"))["events"]
            for one in reversed([each for each in found if _key(each) not in seen]):
                seen.add(_key(one))
                body = one["body"].encode()
                headers = program().webhook_headers(key, one["messageId"], body)
                result = await _forwarded(client, forward_to, body, headers)
                typer.echo(_line(one, result))
                forwarded += 1
            await asyncio.sleep(_PAUSE_S if not count or forwarded < count else 0)
    return facts({"forwarded": forwarded})


async def _forwarded(
    client: httpx2.AsyncClient, url: str, body: bytes, headers: Mapping[str, str]
) -> str:
    try:
        answer = await client.post(
            url, content=body, headers={**headers, "Content-Type": "application/json"}
        )
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        return f"not delivered: {kind_of_failure(error)}"
    return f"answered {answer.status_code}"


def _key(event: Answer) -> tuple[str, str]:
    """Return what makes an event a new one: it is, too, once it is sent again."""
    return event["messageId"], event["madeAt"]


def _line(event: Answer, result: str) -> str:
    return f"{event['madeAt']}  {event['event']}  {event['messageId']}  {result}"
