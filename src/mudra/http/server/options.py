"""OPTIONS names every method of a path (RFC 9110 9.3.7), also where several handlers share it.

The framework's own answer knows the methods of the handler that was registered
first, and not the HEAD of http/server/head.py. Of open data it also says to a browser
that a page of any site may ask for it with a condition.
"""

from litestar import Litestar
from litestar.datastructures import MutableScopeHeaders
from litestar.enums import ScopeType
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from mudra.http.response.open_data import OPEN_DATA, PREFLIGHT_HEADERS


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
