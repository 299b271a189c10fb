"""The sandbox's home: the demonstration network, the mailbox, the time machine.

Mounted in the sandbox only, which listens on loopback only.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from litestar import Response, Router, get

from mudra.console.render import page
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
