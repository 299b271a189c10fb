"""The sandbox's addresses: time machine and mailbox. Mounted in the sandbox only."""

from datetime import timedelta
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.request.sandbox_requests import ClockRequest, MailboxQuery, duration
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import refusal, success
from mudra.http.response.sandbox_responses import ClockResponse, MailboxResponse, mail_response
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms

_MAX_COUNT: Final = timedelta(days=3660)


@post(
    "/sandbox/v1/clock",
    status_code=200,
    operation_class=described("Move the service's clock forward", ClockRequest, ClockResponse),
)
async def advance_clock(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Move time on all nodes; responds when all have moved."""
    context, body = await receive_json(request, service, ClockRequest)
    if isinstance(body, Refusal):
        return refusal(context.envelope, body).response()
    by = duration(body.advance)
    if by > _MAX_COUNT:
        return refusal(
            context.envelope, InvalidField("advance must be at most ten years in one call")
        ).response()
    assert service.time_machine is not None
    now = await service.time_machine.advance(by)
    return success(context.envelope, ClockResponse(now=iso_ms(now))).response()


@get(
    "/sandbox/v1/mails",
    operation_class=described("Read the mailbox", None, MailboxResponse, query=MailboxQuery),
)
async def read_mailbox(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Return the latest emails with their text and links: the sandbox listens on loopback only."""
    context, query = receive_query(request, service, MailboxQuery)
    if isinstance(query, Refusal):
        return refusal(context.envelope, query).response()
    address = normalize_email(query.to) if query.to else None
    wanted = query.to if isinstance(address, AddressRefused) else address
    async with service.unit_of_work() as work:
        mails = await work.mailbox.mails(wanted, int(query.limit))
    newest_first = [mail_response(mail) for mail in reversed(mails)]
    return success(context.envelope, MailboxResponse(mails=newest_first)).response()


handlers: Final[list[ControllerRouterHandler]] = [advance_clock, read_mailbox]
