"""Webhooks: an operator's for the whole network or an entity, a member's own for itself."""

from typing import Final
from uuid import UUID

from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.auth.as_entity import EntityCall, as_entity
from mudra.http.auth.as_operator import OperatorCall, as_operator
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import OwnWebhookRequest, WebhookRequest
from mudra.http.response.alarm_responses import (
    AttemptsResponse,
    NewWebhookResponse,
    WebhookResponse,
    WebhooksResponse,
    added_response,
    attempts_response,
    webhook_response,
    webhooks_response,
)
from mudra.http.route import get, post
from mudra.identity.operators.operator import Scope
from mudra.metrics.notifications.webhook import Owner
from mudra.metrics.notifications.webhook_formats import Format
from mudra.shared.refusal import Refusal

_PATH: Final = "/operator/v1/health/webhooks"


@get(_PATH, "List webhooks")
@as_operator(Scope.HEALTH)
async def webhooks(call: OperatorCall[NoParameters]) -> WebhooksResponse:
    """List all webhooks, the network's and those of members, with their undelivered messages."""
    return webhooks_response(await call.work.webhooks.list())


@post(_PATH, "Add a webhook", conflict=True)
@as_operator(Scope.HEALTH)
async def add(call: OperatorCall[WebhookRequest]) -> NewWebhookResponse | Refusal:
    """Send alarms to an address; only this response has the key that signs them."""
    asked, now = call.body, await call.work.people.now()
    return added_response(
        await call.work.webhooks.add(
            Owner(asked.entity_id),
            asked.url,
            call.caller,
            now,
            fips=asked.fips,
            format_=Format(asked.format),
        )
    )


@post(_PATH + "/{webhook_id:uuid}/remove", "Remove a webhook")
@as_operator(Scope.HEALTH)
async def remove(
    call: OperatorCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove a webhook with its undelivered messages."""
    return webhook_response(await call.work.webhooks.remove(str(webhook_id), None, call.caller))


@post(_PATH + "/{webhook_id:uuid}/test", "Test a webhook", conflict=True)
@as_operator(Scope.HEALTH)
async def test(
    call: OperatorCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Send a test message; its delivery is listed like any other."""
    now = await call.work.people.now()
    service = call.work.webhooks
    return webhook_response(await service.send_test(str(webhook_id), None, call.caller, now))


@post(_PATH + "/{webhook_id:uuid}/rotate", "Rotate the key of a webhook")
@as_operator(Scope.HEALTH)
async def rotate(
    call: OperatorCall[NoParameters], webhook_id: FromPath[UUID]
) -> NewWebhookResponse | Refusal:
    """Make a new key, which only this response has; the previous one signs as well for a day."""
    now = await call.work.people.now()
    service = call.work.webhooks
    return added_response(await service.rotate(str(webhook_id), None, call.caller, now))


@get(_PATH + "/{webhook_id:uuid}/attempts", "List the latest deliveries of a webhook")
@as_operator(Scope.HEALTH)
async def attempts(
    call: OperatorCall[NoParameters], webhook_id: FromPath[UUID]
) -> AttemptsResponse | Refusal:
    """List the latest 20 deliveries and failures, the newest first."""
    return attempts_response(await call.work.webhooks.attempts(str(webhook_id), None))


@get("/webhooks", "List own webhooks")
@as_entity()
async def own_webhooks(call: EntityCall[NoParameters]) -> WebhooksResponse:
    """List the calling entity's webhooks, with their undelivered messages."""
    return webhooks_response(await call.work.webhooks.list(_own(call)))


@post("/webhooks", "Add an own webhook", conflict=True)
@as_entity()
async def add_own(call: EntityCall[OwnWebhookRequest]) -> NewWebhookResponse | Refusal:
    """Send alarms about the calling entity to an address."""
    asked, now = call.body, await call.work.people.now()
    return added_response(
        await call.work.webhooks.add(_own(call), asked.url, call.caller, now, fips=asked.fips)
    )


@post("/webhooks/{webhook_id:uuid}/remove", "Remove an own webhook")
@as_entity()
async def remove_own(
    call: EntityCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove a webhook with its undelivered messages."""
    service = call.work.webhooks
    return webhook_response(await service.remove(str(webhook_id), _own(call), call.caller))


@post("/webhooks/{webhook_id:uuid}/test", "Test an own webhook", conflict=True)
@as_entity()
async def test_own(
    call: EntityCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Send a test message; its delivery is listed like any other."""
    now = await call.work.people.now()
    service = call.work.webhooks
    return webhook_response(await service.send_test(str(webhook_id), _own(call), call.caller, now))


@post("/webhooks/{webhook_id:uuid}/rotate", "Rotate the key of an own webhook")
@as_entity()
async def rotate_own(
    call: EntityCall[NoParameters], webhook_id: FromPath[UUID]
) -> NewWebhookResponse | Refusal:
    """Make a new key, which only this response has; the previous one signs as well for a day."""
    now = await call.work.people.now()
    service = call.work.webhooks
    return added_response(await service.rotate(str(webhook_id), _own(call), call.caller, now))


@get("/webhooks/{webhook_id:uuid}/attempts", "List the latest deliveries of an own webhook")
@as_entity()
async def own_attempts(
    call: EntityCall[NoParameters], webhook_id: FromPath[UUID]
) -> AttemptsResponse | Refusal:
    """List the latest 20 deliveries and failures, the newest first."""
    return attempts_response(await call.work.webhooks.attempts(str(webhook_id), _own(call)))


def _own(call: EntityCall[NoParameters] | EntityCall[OwnWebhookRequest]) -> Owner:
    return Owner(call.entity.entity_id)


operator_handlers: Final[list[HTTPRouteHandler]] = [webhooks, add, remove, test, rotate, attempts]
member_handlers: Final[list[HTTPRouteHandler]] = [
    *(own_webhooks, add_own, remove_own, test_own, rotate_own, own_attempts),
]
