"""HEAD wherever there is GET (RFC 9110 9.1, 9.3.2): the same answer without its body."""

from typing import Final, cast

from litestar.enums import ScopeType
from litestar.types import ASGIApp, Message, Receive, Scope, Send

SENT_METHOD: Final = "mudra_sent_method"
"""Where the scope has the method of a request that is answered as another one."""


def with_head(app: ASGIApp) -> ASGIApp:
    """Let `app` answer HEAD as it answers GET; the server sends no body for it."""

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "HEAD":
            await app(scope, receive, send)
            return

        async def bare(message: Message) -> None:
            if message["type"] == "http.response.body":
                message["body"] = b""
            await send(message)

        answered = cast("Scope", {**scope, "method": "GET", SENT_METHOD: "HEAD"})
        await app(answered, receive, bare)

    return answering
