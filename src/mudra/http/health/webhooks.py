"""Webhooks: an operator's for the whole network or an entity, a member's own for itself."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.account.people_requests import NothingOrder
from mudra.http.auth.as_entity import member_call
from mudra.http.auth.as_operator import operator_call
from mudra.http.dependencies import Injected
from mudra.http.health.health_requests import OwnWebhookOrder, WebhookOrder
from mudra.http.health.health_responses import (
    NewWebhookAnswer,
    WebhookAnswer,
    WebhooksAnswer,
    webhook_shown,
)
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.identity.memberships.memberships import Scope
from mudra.metrics.notifications.webhook import AddedWebhook, Webhook
from mudra.tokens.authentication.token_check import TokenFacts

_PATH: Final = "/operator/v1/health/webhooks"


@get(_PATH, operation_class=described("List webhooks", None, WebhooksAnswer, bearer=True))
async def webhooks(request: AnyRequest, service: Injected) -> Response[bytes]:
    """List all webhooks, the network's and those of members, with what waits for them."""
    exchange, order = receive_query(request, service, NothingOrder)

    async def act(work: Work, _: Caller) -> object:
        return _listed(await work.alarm_desk.webhooks.all(None))

    return await operator_call(exchange, order, Scope.HEALTH, act)


@post(
    _PATH,
    status_code=200,
    operation_class=described(
        "Add a webhook", WebhookOrder, NewWebhookAnswer, bearer=True, conflict=True
    ),
)
async def add(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Have alarms sent to an address; the answer alone has the key that signs them."""
    exchange, order = await receive_json(request, service, WebhookOrder)

    async def act(work: Work, caller: Caller) -> object:
        assert isinstance(order, WebhookOrder)
        now = await work.people.now()
        return _told(await work.alarm_desk.add_webhook(order.entity_id, order.url, caller, now))

    return await operator_call(exchange, order, Scope.HEALTH, act)


@post(
    _PATH + "/{webhook_id:uuid}/remove",
    status_code=200,
    operation_class=described("Remove a webhook", NothingOrder, WebhookAnswer, bearer=True),
)
async def remove(
    request: AnyRequest, service: Injected, webhook_id: FromPath[UUID]
) -> Response[bytes]:
    """Send nothing more there, and forget what waits."""
    exchange, order = await receive_json(request, service, NothingOrder)

    async def act(work: Work, caller: Caller) -> object:
        return _told(await work.alarm_desk.remove_webhook(str(webhook_id), None, caller))

    return await operator_call(exchange, order, Scope.HEALTH, act)


def member_webhook_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handlers at every address of the metrics."""

    @get(
        [f"{prefix}/webhooks" for prefix in prefixes],
        operation_class=described("List own webhooks", None, WebhooksAnswer, bearer=True),
    )
    async def own_webhooks(request: AnyRequest, service: Injected) -> Response[bytes]:
        """List the calling entity's webhooks, with what waits for them."""
        exchange, order = receive_query(request, service, NothingOrder)

        async def act(work: Work, facts: TokenFacts, _: Caller) -> object:
            return _listed(await work.alarm_desk.webhooks.all(facts.subject))

        return await member_call(exchange, order, act)

    @post(
        [f"{prefix}/webhooks" for prefix in prefixes],
        status_code=200,
        operation_class=described(
            "Add an own webhook", OwnWebhookOrder, NewWebhookAnswer, bearer=True, conflict=True
        ),
    )
    async def add_own(request: AnyRequest, service: Injected) -> Response[bytes]:
        """Have alarms about the calling entity sent to an address."""
        exchange, order = await receive_json(request, service, OwnWebhookOrder)

        async def act(work: Work, facts: TokenFacts, caller: Caller) -> object:
            assert isinstance(order, OwnWebhookOrder)
            now = await work.people.now()
            return _told(await work.alarm_desk.add_webhook(facts.subject, order.url, caller, now))

        return await member_call(exchange, order, act)

    @post(
        [f"{prefix}/webhooks/{{webhook_id:uuid}}/remove" for prefix in prefixes],
        status_code=200,
        operation_class=described(
            "Remove an own webhook", NothingOrder, WebhookAnswer, bearer=True
        ),
    )
    async def remove_own(
        request: AnyRequest, service: Injected, webhook_id: FromPath[UUID]
    ) -> Response[bytes]:
        """Send nothing more there, and forget what waits."""
        exchange, order = await receive_json(request, service, NothingOrder)

        async def act(work: Work, facts: TokenFacts, caller: Caller) -> object:
            wanted, own = str(webhook_id), facts.subject
            return _told(await work.alarm_desk.remove_webhook(wanted, own, caller))

        return await member_call(exchange, order, act)

    return [own_webhooks, add_own, remove_own]


def _listed(found: Sequence[Webhook]) -> dict[str, object]:
    return {"webhooks": [webhook_shown(one) for one in found]}


def _told(outcome: object) -> object:
    if isinstance(outcome, AddedWebhook):
        shown = webhook_shown(outcome.webhook)
        return {"webhook": shown, "secret": outcome.secret.reveal()}
    return {"webhook": webhook_shown(outcome)} if isinstance(outcome, Webhook) else outcome


operator_handlers: Final[list[HTTPRouteHandler]] = [webhooks, add, remove]
