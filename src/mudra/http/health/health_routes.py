"""All addresses of metrics and health."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.http.comparison import funnels, roles, volumes
from mudra.http.disputes import operator_disputes
from mudra.http.health import (
    announcements,
    followed_fips,
    held_reports,
    incidents,
    silences,
    webhooks,
)
from mudra.http.health.feed_events import FeedEvents, feed_events_route
from mudra.http.health.feeds import Feed, feed_route, public_status_routes
from mudra.http.health.health_queries import health_matrix, health_rows, own_health
from mudra.http.health.metrics_push import own_receipts, push
from mudra.http.levels import network_rules, reports, targets
from mudra.http.server.router import Router
from mudra.http.timeline import timeline_calls
from mudra.metrics.health.latest_health import FEED_SPAN, LatestHealth

_OPERATOR_HANDLERS: Final[list[ControllerRouterHandler]] = [
    health_matrix,
    *held_reports.operator_handlers,
    *silences.operator_handlers,
    *announcements.operator_handlers,
    *webhooks.operator_handlers,
    health_rows,
    *funnels.operator_handlers,
    *roles.operator_handlers,
    *volumes.operator_handlers,
    *operator_disputes.handlers,
    *timeline_calls.operator_handlers,
    *incidents.operator_handlers,
    *targets.operator_handlers,
    *network_rules.operator_handlers,
    *reports.operator_handlers,
]


def metrics_routes(
    prefixes: Sequence[str], on_new_states: Callable[[Callable[[], None]], None]
) -> list[ControllerRouterHandler]:
    """Returns the handlers for members under every prefix, for operators and for the public."""
    health = LatestHealth(FEED_SPAN, monotonic)
    feed = Feed(health)
    events = FeedEvents(feed.read)
    on_new_states(health.spoil)
    on_new_states(events.announce)
    of_members = [
        push,
        own_receipts,
        own_health,
        *funnels.member_handlers,
        *roles.member_handlers,
        *volumes.member_handlers,
        incidents.own_incidents,
        *webhooks.member_handlers,
        *silences.member_handlers,
        *followed_fips.member_handlers,
        *network_rules.member_handlers,
        *reports.member_handlers,
        feed_route(feed),
        feed_events_route(events),
    ]
    return [
        # The same handlers at further addresses are documented once.
        *(
            Router(
                prefix,
                route_handlers=of_members,
                include_in_schema=number == 0,
                tags=["Network metrics"],
            )
            for number, prefix in enumerate(prefixes)
        ),
        Router("/", route_handlers=public_status_routes(), tags=["Public status"]),
        Router("/", route_handlers=_OPERATOR_HANDLERS, tags=["Network metrics for operators"]),
    ]
