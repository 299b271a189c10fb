"""Webhooks: an operator's for the whole network or an entity, a member's own for itself."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.as_entity import EntityCall, as_entity
from mudra.http.auth.as_operator import OperatorCall, as_operator
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import OwnWebhookRequest, WebhookRequest
from mudra.http.response.alarm_responses import (
    NewWebhookResponse,
    WebhookResponse,
    WebhooksResponse,
    webhook_details,
)
from mudra.http.route import get, post
from mudra.identity.operators.operator import Scope
from mudra.metrics.notifications.webhook import AddedWebhook, Webhook
from mudra.metrics.notifications.webhook_formats import Format
from mudra.shared.refusal import Refusal

_PATH: Final = "/operator/v1/health/webhooks"


@get(_PATH, "List webhooks")
@as_operator(Scope.HEALTH)
async def webhooks(call: OperatorCall[NoParameters]) -> WebhooksResponse:
    """List all webhooks, the network's and those of members, with their undelivered messages."""
    return _list_response(await call.work.webhooks.list())


@post(_PATH, "Add a webhook", conflict=True)
@as_operator(Scope.HEALTH)
async def add(call: OperatorCall[WebhookRequest]) -> NewWebhookResponse | Refusal:
    """Send alarms to an address; only this response has the key that signs them."""
    now = await call.work.people.now()
    return _added(
        await call.work.webhooks.add(
            call.body.entity_id,
            call.body.url,
            call.caller,
            now,
            fips=call.body.fips,
            format_=Format(call.body.format),
        )
    )


@post(_PATH + "/{webhook_id:uuid}/remove", "Remove a webhook")
@as_operator(Scope.HEALTH)
async def remove(
    call: OperatorCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove a webhook with its undelivered messages."""
    return _removed(await call.work.webhooks.remove(str(webhook_id), None, call.caller))


@get("/webhooks", "List own webhooks")
@as_entity()
async def own_webhooks(call: EntityCall[NoParameters]) -> WebhooksResponse:
    """List the calling entity's webhooks, with their undelivered messages."""
    return _list_response(await call.work.webhooks.list(call.entity.entity_id))


@post("/webhooks", "Add an own webhook", conflict=True)
@as_entity()
async def add_own(call: EntityCall[OwnWebhookRequest]) -> NewWebhookResponse | Refusal:
    """Send alarms about the calling entity to an address."""
    now = await call.work.people.now()
    own = call.entity.entity_id
    return _added(
        await call.work.webhooks.add(own, call.body.url, call.caller, now, fips=call.body.fips)
    )


@post("/webhooks/{webhook_id:uuid}/remove", "Remove an own webhook")
@as_entity()
async def remove_own(
    call: EntityCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove a webhook with its undelivered messages."""
    own = call.entity.entity_id
    return _removed(await call.work.webhooks.remove(str(webhook_id), own, call.caller))


def _list_response(found: Sequence[Webhook]) -> WebhooksResponse:
    return WebhooksResponse(webhooks=[webhook_details(one) for one in found])


def _added(outcome: AddedWebhook | Refusal) -> NewWebhookResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return NewWebhookResponse(
        webhook=webhook_details(outcome.webhook), secret=outcome.secret.reveal()
    )


def _removed(outcome: Webhook | Refusal) -> WebhookResponse | Refusal:
    if isinstance(outcome, Refusal):
        return outcome
    return WebhookResponse(webhook=webhook_details(outcome))


operator_handlers: Final[list[HTTPRouteHandler]] = [webhooks, add, remove]
member_handlers: Final[list[HTTPRouteHandler]] = [own_webhooks, add_own, remove_own]
