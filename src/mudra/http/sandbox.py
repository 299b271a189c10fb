"""The sandbox's addresses: time machine and mailbox. Mounted in the sandbox only."""

import re
from datetime import timedelta
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, receive_json, receive_query
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import refusal, success
from mudra.http.token.requests import ClockRequest, MailboxQuery
from mudra.http.token.responses import ClockResponse, MailboxResponse, SandboxMail
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.overview.mail_queue import StoredEmail
from mudra.shared.email_message import links_in
from mudra.shared.time_text import iso_ms

_PARTS: Final = re.compile(
    r"P(?:(?P<weeks>\d+)W)?(?:(?P<days>\d+)D)?"
    r"(?:T(?:(?P<hours>\d+)H)?(?:(?P<minutes>\d+)M)?(?:(?P<seconds>\d+)S)?)?"
)
_MAX_COUNT: Final = timedelta(days=3660)


@post(
    "/sandbox/v1/clock",
    status_code=200,
    operation_class=described("Move the service's clock forward", ClockRequest, ClockResponse),
)
async def advance_clock(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Move time on all nodes; the answer comes when all have moved."""
    context, order = await receive_json(request, service, ClockRequest)
    if not isinstance(order, ClockRequest):
        return refusal(context.envelope, order).response()
    by = duration(order.advance)
    if by > _MAX_COUNT:
        return refusal(
            context.envelope, InvalidField("advance must be at most ten years in one call")
        ).response()
    assert service.time_machine is not None
    now = await service.time_machine.advance(by)
    return success(context.envelope, {"now": iso_ms(now)}).response()


@get(
    "/sandbox/v1/mails",
    operation_class=described("Read the mailbox", None, MailboxResponse, query=MailboxQuery),
)
async def read_mailbox(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show the latest letters with their text and links: the sandbox listens on loopback only."""
    context, order = receive_query(request, service, MailboxQuery)
    if not isinstance(order, MailboxQuery):
        return refusal(context.envelope, order).response()
    assert service.mailbox is not None
    address = normalize_email(order.to) if order.to else None
    wanted = order.to if isinstance(address, AddressRefused) else address
    mails = await service.mailbox(wanted, int(order.limit))
    return success(
        context.envelope, {"mails": [shown_mail(mail) for mail in reversed(mails)]}
    ).response()


def shown_mail(mail: StoredEmail) -> SandboxMail:
    """A letter as it is written for programs."""
    return SandboxMail(
        id=mail.mail_id,
        to=mail.email.to,
        subject=mail.email.subject,
        sent_at=iso_ms(mail.sent_at) if mail.sent_at else None,
        text=mail.email.text,
        links=list(links_in(mail.email.text)),
    )


def duration(text: str) -> timedelta:
    """Read an ISO 8601 duration of fixed units (weeks to seconds)."""
    found = _PARTS.fullmatch(text)
    assert found is not None, "the request's pattern admits no other form"
    return timedelta(**{unit: int(n) for unit, n in found.groupdict().items() if n is not None})


handlers: Final[list[ControllerRouterHandler]] = [advance_clock, read_mailbox]
