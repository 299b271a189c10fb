"""The addresses of network metrics on one screen."""

from collections.abc import Sequence

from litestar import Router
from litestar.types import ControllerRouterHandler

from mudra.http.feeds import feed_routes, public_status_routes
from mudra.http.health import health_matrix, health_rows, member_health_routes
from mudra.http.incidents import acknowledge, incidents, member_incident_routes
from mudra.http.metrics_push import push_route
from mudra.http.metrics_receipts import receipts_routes
from mudra.http.push_gate import PushGate


def metrics_routes(prefixes: Sequence[str]) -> list[ControllerRouterHandler]:
    """Make the handlers for members under every prefix, for operators and for everybody."""
    handlers: list[ControllerRouterHandler] = [
        push_route(prefixes, PushGate()),
        *receipts_routes(prefixes),
        *member_health_routes(prefixes),
        *member_incident_routes(prefixes),
        *feed_routes(prefixes),
        *public_status_routes(),
        health_matrix,
        health_rows,
        incidents,
        acknowledge,
    ]
    # Not in the OpenAPI document until its answers are described there.
    return [Router("/", route_handlers=handlers, include_in_schema=False)]
