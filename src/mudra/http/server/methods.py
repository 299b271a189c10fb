"""HEAD and OPTIONS of every address, and addresses that programs read differently.

HEAD is wherever there is GET (RFC 9110 9.1, 9.3.2): the same answer without its body. OPTIONS names
every method of a path (9.3.7), also where several handlers share it: the framework's own answer
knows the methods of the handler that was registered first, and no HEAD. For open data it also
allows a browser to request it from a page of any site with a condition.
"""

from typing import Final, cast

from litestar import Litestar
from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from mudra.http.response.open_data import OPEN_DATA, PREFLIGHT_HEADERS

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


def with_options(app: Litestar) -> ASGIApp:
    """Let `app` tell all methods of the path that was asked."""
    methods = {
        route.path_format: _named(route) for route in app.routes if isinstance(route, HTTPRoute)
    }

    opened = {
        route.path_format
        for route in app.routes
        if isinstance(route, HTTPRoute)
        and any(OPEN_DATA.items() <= handler.opt.items() for handler in route.route_handlers)
    }

    async def answering(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != ScopeType.HTTP or scope["method"] != "OPTIONS":
            await app(scope, receive, send)
            return

        async def corrected(message: Message) -> None:
            path = scope.get("path_template", "")
            allowed = methods.get(path)
            if message["type"] == "http.response.start" and allowed:
                headers = MutableScopeHeaders.from_message(message)
                headers["Allow"] = allowed
                if path in opened:
                    headers.update(PREFLIGHT_HEADERS)
            await send(message)

        await app(scope, receive, corrected)

    return answering


def _named(route: HTTPRoute) -> str:
    methods = {str(method) for handler in route.route_handlers for method in handler.http_methods}
    return ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))


_ENCODED: Final = (b"%2f", b"%5c", b"%00")
"""A slash, a backslash and a NUL, which no address here has within a part."""
_DOTS: Final = frozenset({".", ".."})


def has_second_spelling(scope: Scope) -> bool:
    """Return whether a path is none of ours, though another program may take it for one.

    A rule of a proxy for `/operator/` does not see `//operator/`, `/%2Foperator/` or `/a/../x`.
    """
    raw: bytes = scope["raw_path"]
    if b"//" in raw or b"\\" in raw:
        return True
    if b"%" in raw:
        lower = raw.lower()
        if any(one in lower for one in _ENCODED):
            return True
    path: str = scope["path"]
    return "/." in path and not _DOTS.isdisjoint(path.split("/"))
