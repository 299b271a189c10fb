"""All addresses of metrics and health."""

from collections.abc import Callable, Sequence
from time import monotonic

from litestar.types import ControllerRouterHandler

from mudra.http.health import incidents, silences, webhooks
from mudra.http.health.feeds import feed_routes, public_status_routes
from mudra.http.health.health_queries import health_matrix, health_rows, member_health_routes
from mudra.http.health.metrics_push import push_route
from mudra.http.health.metrics_receipts import receipts_routes
from mudra.http.server.router import Router
from mudra.metrics.health.network_health_cache import FEED_SPAN, NetworkHealthCache


def metrics_routes(prefixes: Sequence[str]) -> list[ControllerRouterHandler]:
    """Returns the handlers for members under every prefix, for operators and for the public."""
    cache = NetworkHealthCache(FEED_SPAN, monotonic)

    def of_members(some: Sequence[str]) -> list[ControllerRouterHandler]:
        return [
            push_route(some),
            *receipts_routes(some),
            *member_health_routes(some),
            *incidents.member_incident_routes(some),
            *webhooks.member_webhook_routes(some),
            *feed_routes(some, cache),
        ]

    return [
        *of_members(prefixes[:1]),
        *_aliases(of_members, prefixes[1:]),
        *public_status_routes(),
        health_matrix,
        *silences.operator_handlers,
        *webhooks.operator_handlers,
        health_rows,
        *incidents.operator_handlers,
    ]


def _aliases(
    of_members: Callable[[Sequence[str]], list[ControllerRouterHandler]], prefixes: Sequence[str]
) -> list[ControllerRouterHandler]:
    """Returns the handlers under further prefixes; only the first address is documented."""
    if not prefixes:
        return []
    return [Router("/", route_handlers=of_members(prefixes), include_in_schema=False)]
