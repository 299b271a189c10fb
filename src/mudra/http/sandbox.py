"""The sandbox's addresses: time machine and mailbox. Mounted in the sandbox only."""

from datetime import timedelta
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.endpoint import ANYONE, Call
from mudra.http.request.sandbox_requests import ClockRequest, MailboxQuery, duration
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.sandbox_responses import ClockResponse, MailboxResponse, mail_response
from mudra.http.route import get, post
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.shared.refusal import Refusal
from mudra.shared.time_text import iso_ms
from mudra.storage.mail.outbox import Outbox

_MAX_COUNT: Final = timedelta(days=3660)


@post("/sandbox/v1/clock", "Move the service's clock forward", gate=ANYONE)
async def advance_clock(call: Call[ClockRequest]) -> ClockResponse | Refusal:
    """Move time on all nodes; responds when all have moved. PT0S only returns the time.

    It goes forward only: a negative duration is refused, and a restart keeps the new time. The
    clocks of other programs do not move with it: a client, a verifier and an agent then read new
    tokens as not yet valid, or as signed in the future. The way back is an empty data directory:
    end the sandbox and start it with another MUDRA_DATA_DIR, or remove the old one.
    """
    by = duration(call.body.advance)
    if by > _MAX_COUNT:
        return InvalidField("advance must be at most ten years in one call")
    assert call.dependencies.time_machine is not None
    return ClockResponse(now=iso_ms(await call.dependencies.time_machine.advance(by)))


@get("/sandbox/v1/mails", "Read the mailbox", gate=ANYONE)
async def read_mailbox(call: Call[MailboxQuery]) -> MailboxResponse:
    """Return the latest emails with their text and links: the sandbox listens on loopback only."""
    address = normalize_email(call.body.to) if call.body.to else None
    wanted = call.body.to if isinstance(address, AddressRefused) else address
    async with call.dependencies.transaction() as tx:
        mails = await tx.service(Outbox).mails(wanted, int(call.body.limit))
    return MailboxResponse(mails=[mail_response(mail) for mail in reversed(mails)])


handlers: Final[list[ControllerRouterHandler]] = [advance_clock, read_mailbox]
