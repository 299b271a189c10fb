"""Webhooks: an operator's for the whole network or an entity, a member's own for itself."""

from collections.abc import Sequence
from typing import Final
from uuid import UUID

from litestar import Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.audit.event import Caller
from mudra.http.auth.as_entity import as_entity
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import OwnWebhookRequest, WebhookRequest
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.alarm_responses import (
    NewWebhookResponse,
    WebhookResponse,
    WebhooksResponse,
    webhook_details,
)
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.notifications.webhook import AddedWebhook, Webhook
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_PATH: Final = "/operator/v1/health/webhooks"


@get(_PATH, operation_class=described("List webhooks", None, WebhooksResponse, bearer=True))
async def webhooks(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """List all webhooks, the network's and those of members, with their undelivered messages."""
    context, received = receive_query(request, service, NoParameters)

    async def handle(work: UnitOfWork, _: Caller, _received: NoParameters) -> HandlerResult:
        return _list_response(await work.webhooks.list())

    return await as_operator(context, received, Scope.HEALTH, handle)


@post(
    _PATH,
    status_code=200,
    operation_class=described(
        "Add a webhook", WebhookRequest, NewWebhookResponse, bearer=True, conflict=True
    ),
)
async def add(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Send alarms to an address; only this response has the key that signs them."""
    context, received = await receive_json(request, service, WebhookRequest)

    async def handle(work: UnitOfWork, caller: Caller, received: WebhookRequest) -> HandlerResult:
        now = await work.people.now()
        return _added(await work.webhooks.add(received.entity_id, received.url, caller, now))

    return await as_operator(context, received, Scope.HEALTH, handle)


@post(
    _PATH + "/{webhook_id:uuid}/remove",
    status_code=200,
    operation_class=described("Remove a webhook", NoParameters, WebhookResponse, bearer=True),
)
async def remove(
    request: AnyRequest, service: InjectedDependencies, webhook_id: FromPath[UUID]
) -> Response[bytes]:
    """Remove a webhook with its undelivered messages."""
    context, received = await receive_json(request, service, NoParameters)

    async def handle(work: UnitOfWork, caller: Caller, _received: NoParameters) -> HandlerResult:
        return _removed(await work.webhooks.remove(str(webhook_id), None, caller))

    return await as_operator(context, received, Scope.HEALTH, handle)


def member_webhook_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Returns the handlers at every address of the metrics."""

    @get(
        [f"{prefix}/webhooks" for prefix in prefixes],
        operation_class=described("List own webhooks", None, WebhooksResponse, bearer=True),
    )
    async def own_webhooks(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """List the calling entity's webhooks, with their undelivered messages."""
        context, received = receive_query(request, service, NoParameters)

        async def handle(
            work: UnitOfWork, entity: EntityCaller, _: Caller, _received: NoParameters
        ) -> HandlerResult:
            return _list_response(await work.webhooks.list(entity.entity_id))

        return await as_entity(context, received, handle)

    @post(
        [f"{prefix}/webhooks" for prefix in prefixes],
        status_code=200,
        operation_class=described(
            "Add an own webhook", OwnWebhookRequest, NewWebhookResponse, bearer=True, conflict=True
        ),
    )
    async def add_own(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Send alarms about the calling entity to an address."""
        context, received = await receive_json(request, service, OwnWebhookRequest)

        async def handle(
            work: UnitOfWork, entity: EntityCaller, caller: Caller, received: OwnWebhookRequest
        ) -> HandlerResult:
            now = await work.people.now()
            return _added(await work.webhooks.add(entity.entity_id, received.url, caller, now))

        return await as_entity(context, received, handle)

    @post(
        [f"{prefix}/webhooks/{{webhook_id:uuid}}/remove" for prefix in prefixes],
        status_code=200,
        operation_class=described(
            "Remove an own webhook", NoParameters, WebhookResponse, bearer=True
        ),
    )
    async def remove_own(
        request: AnyRequest, service: InjectedDependencies, webhook_id: FromPath[UUID]
    ) -> Response[bytes]:
        """Remove a webhook with its undelivered messages."""
        context, received = await receive_json(request, service, NoParameters)

        async def handle(
            work: UnitOfWork, entity: EntityCaller, caller: Caller, _received: NoParameters
        ) -> HandlerResult:
            wanted, own = str(webhook_id), entity.entity_id
            return _removed(await work.webhooks.remove(wanted, own, caller))

        return await as_entity(context, received, handle)

    return [own_webhooks, add_own, remove_own]


def _list_response(found: Sequence[Webhook]) -> WebhooksResponse:
    return WebhooksResponse(webhooks=[webhook_details(one) for one in found])


def _added(outcome: AddedWebhook | Refusal) -> HandlerResult:
    if isinstance(outcome, Refusal):
        return outcome
    return NewWebhookResponse(
        webhook=webhook_details(outcome.webhook), secret=outcome.secret.reveal()
    )


def _removed(outcome: Webhook | Refusal) -> HandlerResult:
    if isinstance(outcome, Refusal):
        return outcome
    return WebhookResponse(webhook=webhook_details(outcome))


operator_handlers: Final[list[HTTPRouteHandler]] = [webhooks, add, remove]
