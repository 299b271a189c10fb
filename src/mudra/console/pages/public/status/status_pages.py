"""The public status of the network: 90 days, the last 24 hours, incidents.

Served from a snapshot, so that it works while the database is not available, with its age
displayed. Names no AA.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from urllib.parse import urlencode, urljoin

import structlog
from litestar import Response, get
from litestar.di import Provide
from litestar.params import FromPath

from mudra.console.framework.error_page import out_of_reach_page
from mudra.console.framework.page_responses import download
from mudra.console.framework.page_zone import ZONES, write_in_asked_zone
from mudra.console.framework.render import page
from mudra.console.pages.public.public_response import choose_language, in_language
from mudra.console.pages.public.status import status_downloads, subscription
from mudra.console.pages.public.status.status_announcements import announced
from mudra.console.pages.public.status.status_cache import (
    CachedStatus,
    InjectedStatusCache,
    StatusCache,
)
from mudra.console.pages.public.status.status_groups import title_of
from mudra.console.pages.public.status.status_headline import headline
from mudra.console.pages.public.status.status_lines import (
    FipPage,
    days_shown,
    find_state,
    line_of,
    names_of,
    page_of,
    states_of,
)
from mudra.console.pages.public.status.status_tables import (
    APIS_OF_ALL,
    APIS_OF_ONE,
    DAYS,
    LEVELS,
    levels_of,
    lines_of,
)
from mudra.console.pictures.public_chart import HourChart, hour_chart, line_chart
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.http.response.http_refusals import Unavailable
from mudra.http.server.given import Given
from mudra.http.server.router import Router
from mudra.localization.display_zone import display_zone
from mudra.localization.language import gettext
from mudra.metrics.health.api_names import api_names
from mudra.metrics.health.health import Status
from mudra.metrics.notifications.alarm import symptoms_text
from mudra.metrics.public_status.public_rows import is_current
from mudra.metrics.public_status.status_history import FipHistory, PublicIncident, open_incidents
from mudra.shared.unavailable import ServiceUnavailable

_log = structlog.get_logger()
_RECENT: Final = timedelta(days=14)
_MAX_OPEN: Final = 20
_MAX_LINES: Final = 2
"""APIs with an incident of their own that have a line; each has its row below."""
_MAX_RECENT: Final = 20
"""The closed incidents on the first page; institutions' pages show all."""


@get("/status", include_in_schema=False)
async def status(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str] | Response[bytes]:
    """Show the network at a glance."""
    return await _answer(request, dependencies, cache, _network_page)


def _network_page(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cached: CachedStatus,
    kept: Mapping[str, str],
) -> Response[str] | Response[bytes]:
    snapshot = cached.snapshot
    reported_until = snapshot.reported_until
    silent_since = None if is_current(reported_until, dependencies.clock()) else reported_until
    query = dict(request.query_params.items())
    export = (
        APIS_OF_ALL.export(
            lines_of(snapshot.fips, names_of(snapshot.fips), open_now=snapshot.incidents), query
        )
        if "export" in query
        else None
    )
    if export is not None:
        return download(export)
    states, names = states_of(snapshot, dependencies.clock()), names_of(snapshot.fips)
    found = page_of(states, query, kept)
    apis = lines_of([line.fip for line in found.lines], names, _suffix(kept), snapshot.incidents)
    since = snapshot.as_of - _RECENT
    here = {line.fip.fip_id for line in found.lines} if found.is_filtered else set(names)
    if found.words and len(here) > 1:  # the answer is the list: each page has the rest
        here = set()
    open_now = [one for one in open_incidents(snapshot) if one.fip_id in here]
    closed = [one for one in snapshot.incidents if one.ended is not None and one.fip_id in here]
    recent = [one for one in closed if one.ended is not None and one.ended >= since][:_MAX_RECENT]
    shown = page(
        "status.html",
        _site(request, dependencies, kept)
        | {
            "old": _age(cached, dependencies.clock()),
            "snapshot": snapshot,
            "found": found,
            "all": len(states),
            "folded_from": _folded_from(found),
            "operational": sum(one.tone == "good" for one in states),
            "apis": APIS_OF_ALL.view(apis, query),
            "headline": headline(states, names, silent_since),
            "silent_since": silent_since,
            "open": open_now[:_MAX_OPEN],
            "more_open": max(len(open_now) - _MAX_OPEN, 0),
            "planned": [one for one in snapshot.maintenance if one.fip_id in here][:_MAX_OPEN],
            "incidents": recent,
            **announced(snapshot, dependencies.clock(), here=here, of_all=not found.words),
            "older": len(closed) - len(recent),
            "levels_link": _levels_link(cached, kept),
            "api_names": api_names,
            "symptoms_text": symptoms_text,
            "names": names,
        },
    )
    return in_language(shown)


def _folded_from(found: FipPage) -> int:
    """Returns the place from which on all lines are operational, and wait below; 0 for none."""
    if found.pages > 1:
        return 0  # pages and a fold would hide it twice
    tones = [one.tone for one in found.lines]
    at = tones.index("good") if "good" in tones else 0
    return 0 if found.is_filtered or {*tones[at:]} != {"good"} else at


@get("/status/fip/{fip_id:str}", include_in_schema=False)
async def status_of_fip(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    cache: InjectedStatusCache,
    fip_id: FromPath[str],
) -> Response[str] | Response[bytes]:
    """Show one FIP: each day in a table, its APIs, all its incidents."""
    return await _answer(request, dependencies, cache, partial(_fip_page, fip_id=fip_id))


def _fip_page(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cached: CachedStatus,
    kept: Mapping[str, str],
    fip_id: str,
) -> Response[str] | Response[bytes] | None:
    snapshot = cached.snapshot
    state = find_state(snapshot, fip_id, dependencies.clock())
    if state is None:
        return None
    fip = state.fip
    query, apis = (
        dict(request.query_params.items()),
        lines_of([fip], {fip_id: fip.name}, open_now=snapshot.incidents),
    )
    export = APIS_OF_ONE.export(apis, query) or DAYS.export(fip.days, query)
    if export is not None:
        return download(export)
    incidents = [one for one in snapshot.incidents if one.fip_id == fip_id]
    line = line_of(state, days_shown([fip]))
    shown = page(
        "status_fip.html",
        _site(request, dependencies, kept)
        | {
            "old": _age(cached, dependencies.clock()),
            "snapshot": snapshot,
            "line": line,
            "groups": [title_of(one) for one in fip.groups],
            "planned": [one for one in snapshot.maintenance if one.fip_id == fip_id],
            "open": [one for one in incidents if one.ended is None],
            "incidents": [one for one in incidents if one.ended is not None],
            **announced(snapshot, dependencies.clock(), fip_id),
            "api_names": api_names,
            "symptoms_text": symptoms_text,
            "apis": APIS_OF_ONE.view(apis, query),
            "days": DAYS.view(line.days, query),
            "by_day": line_chart([one.success_percentage for one in fip.days]),
            "by_hour": _by_hour(fip, incidents, snapshot.as_of),
            "all_good": all(one.row.status is Status.GOOD and not one.is_disrupted for one in apis),
            "names": {fip.fip_id: fip.name},
            "levels_link": _levels_link(cached, {"levels.q": fip_id, **kept}),
        },
    )
    return in_language(shown)


def _by_hour(
    fip: FipHistory, incidents: Iterable[PublicIncident], until: datetime
) -> HourChart | None:
    """Returns the lines of all APIs together and of each that has an open incident of its own."""
    whole = (*fip.success_by_hour, fip.success_this_hour)
    series = [(api_names(one.type), one.success_by_hour) for one in incidents]
    failing = [(name, hours) for name, hours in series if len(hours) == len(whole)]
    named = gettext("All APIs") if failing else ""
    chart = hour_chart([(named, whole), *failing[:_MAX_LINES]], until, display_zone().info)
    return chart if chart.lines else None


@get("/status/levels", include_in_schema=False)
async def levels(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str] | Response[bytes]:
    """Show what each FIP delivered in the last months, where the operator says so."""
    return await _answer(request, dependencies, cache, _levels_page)


def _levels_page(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cached: CachedStatus,
    kept: Mapping[str, str],
) -> Response[str] | Response[bytes] | None:
    if cached.levels is None:
        return None
    query = dict(request.query_params.items())
    lines = levels_of(cached.levels.levels, names_of(cached.snapshot.fips), _suffix(kept))
    export = LEVELS.export(lines, query)
    if export is not None:
        return download(export)
    shown = page(
        "status_levels.html",
        _site(request, dependencies, kept)
        | {
            "old": _age(cached, dependencies.clock()),
            "snapshot": cached.snapshot,
            "view": LEVELS.view(lines, query),
            "network_zone": dependencies.settings.time_zone,
        },
    )
    return in_language(shown)


async def _answer(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cache: StatusCache,
    make: Callable[..., Response[str] | Response[bytes] | None],
) -> Response[str] | Response[bytes]:
    """Returns a page of what is known now, made once for all that ask for it."""
    kept = _kept(request, dependencies)
    cached = await cache.get(dependencies)
    if cached is None:
        return await _unknown(request, dependencies, kept)
    made = partial(make, request, dependencies, cached, kept)
    return await cache.answer(request, dependencies, cached, made)


async def _unknown(
    request: AnyRequest, dependencies: HttpDependencies, kept: Mapping[str, str]
) -> Response[str]:
    """Returns the page without a status: not read yet, or the database is not available."""
    being_made = (await dependencies.node.readiness()).outage is None
    values = _site(request, dependencies, kept) | {"being_made": being_made}
    return page("status_unknown.html", values, status=200 if being_made else 503)


def public_status_pages(cache: Given[StatusCache], given: Given[HttpDependencies]) -> Router:
    """Returns the pages, with the cache of the process that serves them."""
    pages = Router(
        "/",
        route_handlers=[status, status_of_fip, levels, *subscription.handlers],
        exception_handlers={
            ServiceUnavailable: lambda request, error: _out_of_reach(given.get(), request, error)
        },
    )
    return Router(
        "/",
        route_handlers=[
            pages,
            *status_downloads.handlers,
        ],
        dependencies={"cache": Provide(cache.get, sync_to_thread=False)},
    )


def _out_of_reach(
    dependencies: HttpDependencies, request: AnyRequest, error: Exception
) -> Response[str]:
    assert isinstance(error, ServiceUnavailable)
    _log.warning("unavailable", cause=error.cause, error=str(error))
    choose_language(request, dependencies)
    return in_language(
        out_of_reach_page(dependencies, request, Unavailable(error.sentence), public=True)
    )


def _kept(request: AnyRequest, dependencies: HttpDependencies) -> dict[str, str]:
    """Writes as the address asks for, and returns that, so that it stays from page to page."""
    asked = {
        "lang": choose_language(request, dependencies),
        "zone": write_in_asked_zone(request, dependencies.settings.time_zone),
    }
    return {name: text for name, text in asked.items() if text}


def _suffix(kept: Mapping[str, str]) -> str:
    """Returns what addresses of other status pages end with."""
    return f"?{urlencode(kept)}" if kept else ""


def _levels_link(cached: CachedStatus, query: Mapping[str, str]) -> str:
    """Returns the address of the published levels; empty where the operator publishes none."""
    return "" if cached.levels is None else f"/status/levels{_suffix(query)}"


def _site(
    request: AnyRequest, dependencies: HttpDependencies, kept: Mapping[str, str]
) -> dict[str, object]:
    query = dict(request.query_params.items())
    return {
        "network": dependencies.settings.network_name,
        "base": dependencies.settings.token_prefix,
        "root": urljoin(dependencies.settings.issuer, "/status"),
        "kept": kept,
        "data_license": dependencies.settings.status_license,
        "may_subscribe": subscription.may_subscribe(dependencies),
        "suffix": _suffix(kept),
        "zones": [
            (one, title, "?" + urlencode({**query, "zone": one.value}))
            for one, title in ZONES.items()
        ],
        "languages": [
            (one, "?" + urlencode({**query, "lang": one.tag}))
            for one in dependencies.languages.choices
        ],
    }


def _age(cached: CachedStatus, now: datetime) -> timedelta | None:
    """Returns the age of the status, when the database could not be read."""
    return None if cached.fresh else max(now - cached.snapshot.as_of, timedelta())
