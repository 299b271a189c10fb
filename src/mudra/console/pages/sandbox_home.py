"""The sandbox's home, and its mailbox and time machine as a page of operators.

Mounted in the sandbox only, which listens on loopback only.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from litestar import Response, Router, get
from litestar.types import ControllerRouterHandler

from mudra.console.answer import Outcome, Shown
from mudra.console.entrance import any_operator_page
from mudra.console.navigation import SANDBOX_WORD
from mudra.console.render import page
from mudra.console.visit import Visit
from mudra.http.exchange import AnyRequest
from mudra.http.service import Injected
from mudra.identity.ports import Member
from mudra.storage.directory import UserFilter


@dataclass(frozen=True, slots=True)
class ShownMail:
    """One mail of the development mailbox."""

    to: str
    subject: str
    text: str
    links: tuple[str, ...]
    at: datetime


ReadMails = Callable[[], Awaitable[Sequence[ShownMail]]]


def sandbox_home(read_mails: ReadMails, password: str) -> Router:
    """Make the sandbox's pages."""

    @get("/", include_in_schema=False)
    async def home(service: Injected) -> Response[str]:
        """Show what there is to try."""
        async with service.open_work() as work:
            members: Sequence[Member] = await work.people.members()
            operators = await work.directory.users(UserFilter(operators_only=True), "", 20)
        mails = await read_mails()
        return page(
            "sandbox.html",
            {
                "network": service.settings.network_name,
                "base": service.settings.token_prefix,
                "issuer": service.settings.issuer,
                "members": members,
                "operators": [one.email for one in operators],
                "mails": list(reversed(mails)),
                "now": service.clock(),
                "password": password,
            },
        )

    return Router("/", route_handlers=[home])


def sandbox_desk(read_mails: ReadMails) -> ControllerRouterHandler:
    """Make the page of operators that shows the mailbox and the time machine."""

    @get(f"/operator/{SANDBOX_WORD}", include_in_schema=False)
    async def desk(request: AnyRequest, service: Injected) -> Response[str] | Response[bytes]:
        """Show both, to operators of whatever scope."""

        async def look(_: Visit) -> Outcome:
            mails = list(reversed(await read_mails()))
            return Shown("operator_sandbox.html", {"mails": mails, "now": service.clock()})

        return await any_operator_page(request, service, look)

    return desk
