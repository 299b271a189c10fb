"""The API in the process of a command: the same handlers, called by the owner of this machine.

Nothing listens. Anyone who may open the data directory may call it, without a service or a token.
"""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from litestar.types import Receive, Scope, Send

from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.wiring import open_http_edge
from mudra.http.app import Routes, build_app, build_routes
from mudra.http.dependencies import HttpDependencies
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.identity.operators.operator import Operator
from mudra.identity.operators.operator import Scope as OperatorScope

_unused: dict[RouteSettings, list[Routes]] = defaultdict(list)
"""Routes that serve no command now: to build them takes 0.2 s of CPU."""


@asynccontextmanager
async def api_of_owner(dependencies: Dependencies, name: str) -> AsyncIterator[httpx2.AsyncClient]:
    """Give a client of the API whose every call `name` makes, with all scopes.

    A database that fails, and a fault of ours, is raised by the call.
    """
    owner = Operator("", name, frozenset(OperatorScope))
    edge = open_http_edge(dependencies, owner)
    unused = _unused[known := RouteSettings.of(dependencies.settings)]
    routes = unused.pop() if unused else build_routes(known, Given[HttpDependencies]())
    app = build_app(routes, edge.http)

    async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
        """Add what a server puts into each request's scope."""
        scope["state"] = {}
        await app(scope, receive, send)

    # The transport has types of its own for the three ASGI arguments.
    transport = httpx2.ASGITransport(with_state, client=("", 0))  # type: ignore[arg-type]  # see above
    try:
        async with httpx2.AsyncClient(transport=transport) as client:
            yield client
    finally:
        routes.take_back()
        unused.append(routes)
