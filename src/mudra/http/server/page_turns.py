"""Pages take turns before they begin, so that each has an answer in bounded time (decision 0125).

A page is mostly processor time. When more are asked for than this process can make, all that were
begun at once would end late together; so a few are made at a time, and the rest wait without work.
"""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

from litestar import Request
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import address_of
from mudra.shared.fair_turns import FairTurns
from mudra.shared.network_address import address_key
from mudra.shared.unavailable import Outage, ServiceUnavailable

MAX_PAGES: Final = 4
WAIT_S: Final = 10.0
"""As long as a request waits for a connection to the database."""


def page_turns(
    dependencies: HttpDependencies, max_pages: int = MAX_PAGES, wait_s: float = WAIT_S
) -> Callable[[ASGIApp], ASGIApp]:
    """Return the middleware of pages: reads wait for their turn, in rotation by address.

    A turn ends where the answer begins, so that no reader can keep one by reading slowly.
    Raises ServiceUnavailable when no turn came in `wait_s` seconds.
    """
    turns = FairTurns(max_pages, max_pages, wait_s)

    def in_turn(app: ASGIApp) -> ASGIApp:
        async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != ScopeType.HTTP or scope["method"] != "GET":
                await app(scope, receive, send)
                return
            key = address_key(address_of(Request(scope), dependencies))
            async with AsyncExitStack() as held:
                if not await held.enter_async_context(turns.turn(key)):
                    raise ServiceUnavailable(Outage.BUSY)

                async def sending(message: Message) -> None:
                    if message["type"] == "http.response.start":
                        await held.aclose()
                    await send(message)

                await app(scope, receive, sending)

        return waiting

    return in_turn
