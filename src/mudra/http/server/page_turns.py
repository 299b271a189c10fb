"""Pages take turns before they begin, so that each has an answer in bounded time (decision 0010).

A page is mostly processor time. When more are asked for than this process can make, all that were
begun at once would end late together; so a few are made at a time, and the rest wait without work.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack

from litestar import Request
from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from mudra.http.dependencies import HttpDependencies
from mudra.http.request.request_context import AnyRequest, address_of
from mudra.http.server.given import Given
from mudra.shared.network_address import address_key
from mudra.shared.unavailable import Outage, ServiceUnavailable


def page_turns(given: Given[HttpDependencies]) -> Callable[[ASGIApp], ASGIApp]:
    """Return the middleware of pages: reads wait for their turn, in rotation by address.

    A turn ends where the answer begins, so that no reader can keep one by reading slowly; what
    is made after that takes one of its own (`page_turn`).
    Raises ServiceUnavailable when no turn came in time.
    """

    def in_turn(app: ASGIApp) -> ASGIApp:
        async def waiting(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != ScopeType.HTTP or scope["method"] != "GET":
                await app(scope, receive, send)
                return
            async with AsyncExitStack() as held:
                await held.enter_async_context(page_turn(given.get(), Request(scope)))

                async def sending(message: Message) -> None:
                    if message["type"] == "http.response.start":
                        await held.aclose()
                    await send(message)

                await app(scope, receive, sending)

        return waiting

    return in_turn


@contextlib.asynccontextmanager
async def page_turn(dependencies: HttpDependencies, request: AnyRequest) -> AsyncIterator[None]:
    """Keep a turn for the block: that of a page, or of what it makes after its beginning.

    Raises ServiceUnavailable when none came in time.
    """
    key = address_key(address_of(request, dependencies))
    async with dependencies.page_turns.turn(key) as came:
        if not came:
            raise ServiceUnavailable(Outage.BUSY)
        yield
