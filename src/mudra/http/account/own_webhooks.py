"""/user/alarm/webhooks: the address to which the caller's own alarms are posted."""

from typing import Final
from uuid import UUID

from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.http.auth.as_user import UserCall, as_user
from mudra.http.request.fields import NoParameters
from mudra.http.request.health_requests import PersonalWebhookRequest
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
from mudra.metrics.notifications.webhook import Owner
from mudra.metrics.notifications.webhook_formats import Format
from mudra.shared.refusal import Refusal

_PATH: Final = "/user/alarm/webhooks"


@get(_PATH, "List your own webhook")
@as_user()
async def webhooks(call: UserCall[NoParameters]) -> WebhooksResponse:
    """List the caller's own webhook, of which there is one at most."""
    return webhooks_response(await call.work.webhooks.list(_own(call)))


@post(_PATH, "Add your own webhook", conflict=True)
@as_user()
async def add(call: UserCall[PersonalWebhookRequest]) -> NewWebhookResponse | Refusal:
    """Add the address for the caller's alarms; their preferences say whether it is used."""
    asked, now = call.body, await call.work.people.now()
    return added_response(
        await call.work.webhooks.add(
            _own(call), asked.url, call.caller, now, format_=Format(asked.format)
        )
    )


@post(_PATH + "/{webhook_id:uuid}/remove", "Remove your own webhook")
@as_user()
async def remove(
    call: UserCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Remove it with its undelivered messages; alarms come by email instead."""
    service = call.work.webhooks
    return webhook_response(await service.remove(str(webhook_id), _own(call), call.caller))


@post(_PATH + "/{webhook_id:uuid}/test", "Test your own webhook", conflict=True)
@as_user()
async def test(
    call: UserCall[NoParameters], webhook_id: FromPath[UUID]
) -> WebhookResponse | Refusal:
    """Send a test message; its delivery is listed like any other."""
    now = await call.work.people.now()
    service = call.work.webhooks
    return webhook_response(await service.send_test(str(webhook_id), _own(call), call.caller, now))


@post(_PATH + "/{webhook_id:uuid}/rotate", "Rotate the key of your own webhook")
@as_user()
async def rotate(
    call: UserCall[NoParameters], webhook_id: FromPath[UUID]
) -> NewWebhookResponse | Refusal:
    """Make a new key, which only this response has; the previous one signs as well for a day."""
    now = await call.work.people.now()
    service = call.work.webhooks
    return added_response(await service.rotate(str(webhook_id), _own(call), call.caller, now))


@get(_PATH + "/{webhook_id:uuid}/attempts", "List the latest deliveries of your own webhook")
@as_user()
async def attempts(
    call: UserCall[NoParameters], webhook_id: FromPath[UUID]
) -> AttemptsResponse | Refusal:
    """List the latest 20 deliveries and failures, the newest first."""
    return attempts_response(await call.work.webhooks.attempts(str(webhook_id), _own(call)))


def _own(call: UserCall[NoParameters] | UserCall[PersonalWebhookRequest]) -> Owner:
    return Owner(user_id=call.user.user_id)


handlers: Final[list[ControllerRouterHandler]] = [webhooks, add, remove, test, rotate, attempts]
