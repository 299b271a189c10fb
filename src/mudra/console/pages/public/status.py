"""The public status of the network: 90 days, the last 24 hours, incidents.

Served from a snapshot, so that it works while the database is not available, with its age
displayed. Names no AA.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import msgspec
from litestar import Response, get
from litestar.di import Provide
from litestar.params import FromPath, SkipValidation
from msgspec import Struct

from mudra.console.framework.error_page import no_such_page
from mudra.console.framework.page_responses import download
from mudra.console.framework.render import page
from mudra.console.pages.public.status_cache import CachedStatus, StatusCache
from mudra.console.pages.public.status_tables import APIS_OF_ALL, APIS_OF_ONE, DAYS, lines_of
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.json_response import refusal
from mudra.http.server.router import Router
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.feed import is_current
from mudra.metrics.health.status_history import (
    Day,
    DayState,
    FipHistory,
    PublicIncident,
    history_csv,
    maintained_now,
    open_incidents,
    share_of_good_days,
    state_now,
)

_BAR: Final = 4
_HEIGHTS: Final = {  # top and height of a day's bar: states differ by shape, not only by color
    DayState.GOOD: (7, 26),
    DayState.PARTLY: (3, 30),
    DayState.BAD: (0, 33),
    DayState.NO_DATA: (27, 6),
}
STATES: Final = {
    DayState.GOOD: ("Operational", "good"),
    DayState.PARTLY: ("Disrupted within 24 hours", "warn"),
    DayState.BAD: ("Disrupted", "bad"),
    DayState.NO_DATA: ("No data", "quiet"),
}
MAINTENANCE: Final = "Planned maintenance"
_RECENT: Final = timedelta(days=14)
_MAX_RECENT: Final = 50
"""The closed incidents on the first page; institutions' pages show all."""
InjectedStatusCache: TypeAlias = SkipValidation[StatusCache]


class FipLine(Struct, frozen=True):
    """The line of one FIP on the page."""

    fip: FipHistory
    state: str
    tone: str
    bars: dict[str, str]
    summary: str


@get("/status", include_in_schema=False)
async def status(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str] | Response[bytes]:
    """Show the network at a glance."""
    cached = await cache.get(dependencies)
    facts = _site(dependencies) | _age(cached, dependencies.clock())
    if cached is None:
        return await _unknown(dependencies, facts)
    snapshot = cached.snapshot
    reported_until = snapshot.reported_until
    silent_since = None if is_current(reported_until, dependencies.clock()) else reported_until
    query, apis = dict(request.query_params.items()), lines_of(snapshot.fips)
    export = APIS_OF_ALL.export(apis, query)
    if export is not None:
        return download(export)
    maintained = maintained_now(snapshot, dependencies.clock())
    lines = [_line(fip, snapshot.incidents, maintained) for fip in snapshot.fips]
    since = snapshot.as_of - _RECENT
    closed = [one for one in snapshot.incidents if one.ended is not None]
    recent = [one for one in closed if one.ended is not None and one.ended >= since][:_MAX_RECENT]
    return page(
        "status.html",
        facts
        | {
            "snapshot": snapshot,
            "lines": lines,
            "apis": APIS_OF_ALL.view(apis, query),
            "headline": _headline(lines, len(snapshot.fips), silent_since),
            "silent_since": silent_since,
            "open": open_incidents(snapshot),
            "planned": snapshot.maintenance,
            "incidents": recent,
            "older": len(closed) - len(recent),
            "api_names": api_names,
            "names": {fip.fip_id: fip.name for fip in snapshot.fips},
        },
    )


@get("/status/fip/{fip_id:str}", include_in_schema=False)
async def status_of_fip(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    cache: InjectedStatusCache,
    fip_id: FromPath[str],
) -> Response[str] | Response[bytes]:
    """Show one FIP: each day in a table, its APIs, all its incidents."""
    cached = await cache.get(dependencies)
    facts = _site(dependencies) | _age(cached, dependencies.clock())
    if cached is None:
        return await _unknown(dependencies, facts)
    fip = next((one for one in cached.snapshot.fips if one.fip_id == fip_id), None)
    if fip is None:
        return no_such_page(dependencies, public=True)
    query, apis = dict(request.query_params.items()), lines_of([fip])
    export = APIS_OF_ONE.export(apis, query) or DAYS.export(fip.days, query)
    if export is not None:
        return download(export)
    incidents = [one for one in cached.snapshot.incidents if one.fip_id == fip_id]
    return page(
        "status_fip.html",
        facts
        | {
            "snapshot": cached.snapshot,
            "line": _line(fip, incidents, maintained_now(cached.snapshot, dependencies.clock())),
            "planned": [one for one in cached.snapshot.maintenance if one.fip_id == fip_id],
            "incidents": incidents,
            "api_names": api_names,
            "apis": APIS_OF_ONE.view(apis, query),
            "days": DAYS.view(fip.days, query),
            "names": {fip.fip_id: fip.name},
        },
    )


async def _unknown(dependencies: HttpDependencies, facts: Mapping[str, object]) -> Response[str]:
    """Returns the page without a status: not read yet, or the database is not available."""
    being_made = await dependencies.node.outage() is None
    values = {**facts, "being_made": being_made}
    return page("status_unknown.html", values, status=200 if being_made else 503)


@get("/status/network.json", include_in_schema=False)
async def status_json(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[bytes]:
    """Return the snapshot as JSON: days, APIs, incidents."""
    cached = await cache.get(dependencies)
    if cached is None:
        return refusal(new_context(request, dependencies).envelope, Unavailable()).response()
    return _file(msgspec.json.encode(cached.snapshot), "application/json", "network.json")


@get("/status/network.csv", include_in_schema=False)
async def status_csv(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[bytes]:
    """Return the days as CSV."""
    cached = await cache.get(dependencies)
    if cached is None:
        return refusal(new_context(request, dependencies).envelope, Unavailable()).response()
    return _file(history_csv(cached.snapshot).encode(), "text/csv", "network.csv")


def public_status_pages(cache: StatusCache) -> Router:
    """Returns the pages, with the cache of this process."""
    return Router(
        "/",
        route_handlers=[status, status_of_fip, status_json, status_csv],
        dependencies={"cache": Provide(lambda: cache, sync_to_thread=False)},
    )


def _file(body: bytes, media_type: str, name: str) -> Response[bytes]:
    headers = {
        "Cache-Control": "public, max-age=60",
        "Access-Control-Allow-Origin": "*",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return Response(body, media_type=media_type, headers=headers)


def _site(dependencies: HttpDependencies) -> dict[str, object]:
    return {
        "network": dependencies.settings.network_name,
        "base": dependencies.settings.token_prefix,
    }


def _age(cached: CachedStatus | None, now: datetime) -> dict[str, object]:
    """Returns the age of the status, when the database could not be read."""
    if cached is None or cached.fresh:
        return {"old": None, "now": now}
    return {"old": max(now - cached.snapshot.as_of, timedelta()), "now": now}


def _line(
    fip: FipHistory, incidents: Sequence[PublicIncident], maintained: frozenset[str]
) -> FipLine:
    state, tone = STATES[state_now(fip, incidents)]
    if fip.fip_id in maintained:
        state, tone = MAINTENANCE, "quiet"
    good, known = share_of_good_days(fip.days)
    summary = f"{good} of {known} days without disruption" if known else "no data yet"
    if 0 < known < len(fip.days):
        summary += f", {len(fip.days) - known} without data"
    return FipLine(fip, state, tone, _bars(fip.days), summary)


def _headline(
    lines: Sequence[FipLine], total: int, silent_since: datetime | None
) -> tuple[str, str]:
    """Returns the headline of the network, with its tone."""
    if silent_since is not None:
        return "No data", "quiet"
    bad, warned = (
        [line.fip.name for line in lines if line.tone == tone] for tone in ("bad", "warn")
    )
    maintained = sum(1 for line in lines if line.state == MAINTENANCE)
    known = sum(1 for line in lines if line.tone != "quiet")
    if bad:
        return f"{_who(bad, total)} disrupted", "bad"
    if warned:
        return f"Operational now; {_who(warned, total)} disrupted within 24 hours", "warn"
    if not known and maintained:
        return f"{maintained} of {total} institutions in planned maintenance", "quiet"
    if not known:
        return "No data for the last 24 hours", "quiet"
    if known < total:
        unknown = total - known - maintained
        apart = [f"no data for {unknown}"] if unknown else []
        apart += [f"{maintained} in planned maintenance"] if maintained else []
        return f"{known} institutions operational; {', '.join(apart)}", "good"
    return "All institutions operational", "good"


def _who(names: Sequence[str], total: int) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} of {total} institutions"


def _bars(days: Sequence[Day]) -> dict[str, str]:
    """Returns the days as one SVG path for each state: short, and without inline styles."""
    paths: dict[str, str] = {}
    for place, day in enumerate(days):
        top, height = _HEIGHTS[day.state]
        piece = f"M{place * _BAR} {top}h3v{height}h-3z"
        paths[day.state.value] = paths.get(day.state.value, "") + piece
    return paths
