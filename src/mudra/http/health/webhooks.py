"""Webhooks: of the network (operators), of a member, and each person's own."""

from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.http.auth.gates import SIGNED_IN, EntityCall, OperatorCall, UserCall, entity, operator
from mudra.http.endpoint import Gate, Handler
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import (
    OwnWebhookRequest,
    PersonalWebhookRequest,
    WebhookRequest,
)
from mudra.http.response import conflicts
from mudra.http.response.alarm_responses import (
    AttemptsResponse,
    WebhookEventsResponse,
    WebhookKeyResponse,
    WebhookResponse,
    WebhooksResponse,
    added_response,
    attempts_response,
    events_response,
    webhook_response,
    webhooks_response,
)
from mudra.http.route import get, post
from mudra.identity.accounts.people_store import People
from mudra.identity.operators.operator import Scope
from mudra.metrics.notifications.webhook import MAX_OF_A_PERSON, Owner, TooManyWebhooks
from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.notifications.webhook_service import WebhookService
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction

_ONE_OF_A_PERSON: Final = (TooManyWebhooks(MAX_OF_A_PERSON),)
_NETWORK: Final = "/operator/v1/health/webhooks"
_MEMBER: Final = "/webhooks"
_PERSON: Final = "/user/alarm/webhooks"
B_co = TypeVar("B_co", covariant=True)


class _OwnersCall(Protocol[B_co]):
    """A call of an operator, an entity or a person, behind the gate of which the owner is known."""

    @property
    def body(self) -> B_co: ...
    @property
    def tx(self) -> Transaction: ...
    @property
    def caller(self) -> Caller: ...
    @property
    def owner(self) -> Owner | None: ...


@get(_NETWORK, "List webhooks", gate=operator(Scope.HEALTH))
async def webhooks(call: OperatorCall[NoParameters]) -> WebhooksResponse:
    """List all webhooks, the network's and its members', with their undelivered messages."""
    return webhooks_response(await call.tx.service(WebhookService).list(call.owner), call.owner)


@post(_NETWORK, "Add a webhook", conflicts=conflicts.WEBHOOK, gate=operator(Scope.HEALTH))
async def add(call: OperatorCall[WebhookRequest]) -> WebhookKeyResponse | Refusal:
    """Send alarms to an address; only this response has the key that signs them."""
    asked, now = call.body, await People(call.tx).now()
    return added_response(
        await call.tx.service(WebhookService).add(
            Owner(asked.entity_id),
            asked.url,
            call.caller,
            now,
            fips=asked.fips,
            format_=Format(asked.format),
        )
    )


@get(_MEMBER, "List own webhooks", gate=entity())
async def own_webhooks(call: EntityCall[NoParameters]) -> WebhooksResponse:
    """List the calling entity's webhooks, with their undelivered messages."""
    return webhooks_response(await call.tx.service(WebhookService).list(call.owner), call.owner)


@post(_MEMBER, "Add an own webhook", conflicts=conflicts.WEBHOOK, gate=entity())
async def add_own(call: EntityCall[OwnWebhookRequest]) -> WebhookKeyResponse | Refusal:
    """Send alarms about the calling entity to an address."""
    asked, now = call.body, await People(call.tx).now()
    return added_response(
        await call.tx.service(WebhookService).add(
            call.owner, asked.url, call.caller, now, fips=asked.fips
        )
    )


@get(_PERSON, "List your own webhook", gate=SIGNED_IN)
async def webhook_of_person(call: UserCall[NoParameters]) -> WebhooksResponse:
    """List the caller's own webhook, of which there is one at most."""
    return webhooks_response(await call.tx.service(WebhookService).list(call.owner), call.owner)


@post(_PERSON, "Add your own webhook", conflicts=_ONE_OF_A_PERSON, gate=SIGNED_IN)
async def add_of_person(call: UserCall[PersonalWebhookRequest]) -> WebhookKeyResponse | Refusal:
    """Add the address for the caller's alarms; their preferences say whether it is used."""
    asked, now = call.body, await People(call.tx).now()
    return added_response(
        await call.tx.service(WebhookService).add(
            call.owner, asked.url, call.caller, now, format_=Format(asked.format)
        )
    )


async def remove(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove a webhook with its undelivered messages."""
    service = call.tx.service(WebhookService)
    removed = await service.remove(str(webhook_id), call.owner, call.caller)
    return webhook_response(removed, call.owner)


async def remove_of_person(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove it with its undelivered messages; alarms come by email instead."""
    return await remove(call, webhook_id)


async def test(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Send a test message; its delivery is listed like any other."""
    id_, now = str(webhook_id), await People(call.tx).now()
    return webhook_response(
        await call.tx.service(WebhookService).send_test(id_, call.owner, call.caller, now),
        call.owner,
    )


async def rotate(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookKeyResponse | Refusal:
    """Make a new key, which only this response has; the previous one signs as well for a day."""
    id_, now = str(webhook_id), await People(call.tx).now()
    return added_response(
        await call.tx.service(WebhookService).rotate(id_, call.owner, call.caller, now),
        call.owner,
    )


async def attempts(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID]
) -> AttemptsResponse | Refusal:
    """List the latest 20 deliveries and failures, the newest first."""
    return attempts_response(
        await call.tx.service(WebhookService).attempts(str(webhook_id), call.owner)
    )


async def events(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookEventsResponse | Refusal:
    """List the latest 50 messages with their bodies, the newest first."""
    return events_response(
        await call.tx.service(WebhookService).events(str(webhook_id), call.owner)
    )


async def resend(
    call: _OwnersCall[NoParameters], webhook_id: FromPath[UUID], message_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Send a message that was delivered or given up once more, under the same `webhook-id`."""
    now = await People(call.tx).now()
    return webhook_response(
        await call.tx.service(WebhookService).resend(
            str(webhook_id), str(message_id), call.owner, call.caller, now
        ),
        call.owner,
    )


def _with_one(
    path: str,
    noun: str,
    gate: Gate[_OwnersCall[Any]],
    removed: Handler[_OwnersCall[NoParameters], [UUID]] = remove,
) -> list[HTTPRouteHandler]:
    """Mount what an owner does with one webhook; `noun` names it in the OpenAPI document."""
    one = path + "/{webhook_id:uuid}"
    return [
        post(f"{one}/remove", f"Remove {noun}", gate=gate)(removed),
        post(f"{one}/test", f"Test {noun}", conflicts=conflicts.TEST_WEBHOOK, gate=gate)(test),
        post(f"{one}/rotate", f"Rotate the key of {noun}", gate=gate)(rotate),
        get(f"{one}/events", f"List the latest events of {noun}", gate=gate)(events),
        post(
            f"{one}/events/{{message_id:uuid}}/resend",
            f"Send an event of {noun} again",
            conflicts=conflicts.RESEND,
            gate=gate,
        )(resend),
        get(f"{one}/attempts", f"List the latest deliveries of {noun}", gate=gate)(attempts),
    ]


operator_handlers: Final[list[HTTPRouteHandler]] = [
    webhooks,
    add,
    *_with_one(_NETWORK, "a webhook", operator(Scope.HEALTH)),
]
member_handlers: Final[list[HTTPRouteHandler]] = [
    own_webhooks,
    add_own,
    *_with_one(_MEMBER, "an own webhook", entity()),
]
person_handlers: Final[list[HTTPRouteHandler]] = [
    webhook_of_person,
    add_of_person,
    *_with_one(_PERSON, "your own webhook", SIGNED_IN, remove_of_person),
]
