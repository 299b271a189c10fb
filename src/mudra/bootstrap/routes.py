"""All routes of a service, built once for all the workers that are forked (decision 0012).

To build them takes a worker 0.15 s of CPU, most of what it does before it serves.
"""

from litestar.types import ASGIApp
from msgspec import Struct

from mudra.bootstrap.wiring import Edge
from mudra.console.framework.error_page import not_found_page
from mudra.console.framework.static_files import static_files
from mudra.console.pages.public.activation import activation_page
from mudra.console.pages.public.documentation import documentation_pages
from mudra.console.pages.public.sandbox_home import operator_sandbox, sandbox_home
from mudra.console.pages.public.status.status_cache import StatusCache, status_cache
from mudra.console.pages.public.status.status_pages import public_status_pages
from mudra.console.routes import console_pages
from mudra.demo.faults import handlers as fault_handlers
from mudra.demo.faults import page as fault_page
from mudra.demo.network import DEMO_PASSWORD
from mudra.http.app import Pages, Routes, build_app, build_routes
from mudra.http.dependencies import HttpDependencies
from mudra.http.route_settings import RouteSettings
from mudra.http.server.given import Given
from mudra.http.server.page_turns import page_turns
from mudra.http.server.router import Router
from mudra.settings.settings import Settings


class ServiceRoutes(Struct, frozen=True):
    """The routes of one worker, and where it puts the status that its pages show."""

    routes: Routes
    status: Given[StatusCache]


_ahead: dict[RouteSettings, ServiceRoutes] = {}


def build_ahead(settings: Settings) -> None:
    """Build the routes of workers in a process that forks them, if that has not been done."""
    known = RouteSettings.of(settings)
    if known not in _ahead:
        _ahead[known] = service_routes(known)


def take_routes(settings: Settings) -> ServiceRoutes:
    """Return routes for one application of this process: those built ahead, else new ones."""
    known = RouteSettings.of(settings)
    return _ahead.pop(known, None) or service_routes(known)


def service_routes(settings: RouteSettings, more: Pages = ()) -> ServiceRoutes:
    """Build all routes of a service; `more` are a benchmark's."""
    http, status = Given[HttpDependencies](), Given[StatusCache]()
    of_sandbox = [operator_sandbox, *fault_page.handlers] if settings.sandbox else []
    pages = [
        activation_page(settings.token_prefix),
        static_files(settings.token_prefix),
        documentation_pages(),
        _in_turn(http, public_status_pages(status, http), console_pages(http, of_sandbox)),
        *([sandbox_home(DEMO_PASSWORD)] if settings.sandbox else []),
        *more,
    ]
    faults = fault_handlers.handlers
    return ServiceRoutes(build_routes(settings, http, pages, not_found_page, faults), status)


def _in_turn(http: Given[HttpDependencies], *pages: Router) -> Router:
    """Mount what costs a worker most next to its tokens, a few at a time."""
    return Router("/", route_handlers=list(pages), middleware=[page_turns(http)])


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
