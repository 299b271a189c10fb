"""The ASGI application of a worker: all routes, with what they work with."""

from litestar.types import ASGIApp

from mudra.bootstrap.routes import take_routes
from mudra.bootstrap.wiring import Edge
from mudra.console.pages.public.status_cache import status_cache
from mudra.http.app import build_app


def application(edge: Edge) -> ASGIApp:
    """Put the ASGI application of a worker together: its routes, and what they work with."""
    assert edge.http.owner is None, "what listens has no owner: anyone could act as one"
    settings = edge.dependencies.settings
    taken = take_routes(settings)
    taken.status.give(status_cache(settings.data_dir, edge.dependencies.clock.monotonic))
    app = build_app(taken.routes, edge.http)
    if not settings.sandbox:
        return app
    from mudra.demo.faults.middleware import with_faults  # noqa: PLC0415  # the sandbox's alone

    return with_faults(app, edge.http)
