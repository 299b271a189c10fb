"""The public status for programs: feeds, badges, and the open data with its schema."""

from collections.abc import Callable
from functools import cache as kept_once
from functools import partial
from typing import Final
from urllib.parse import urljoin

import msgspec
from litestar import Response, get
from litestar.params import FromPath
from litestar.response import Stream
from litestar.types import ControllerRouterHandler

from mudra.console.framework.error_page import no_such_page
from mudra.console.pages.public.public_response import PublicAnswer, for_all, public_file
from mudra.console.pages.public.status.status_cache import InjectedStatusCache, StatusCache
from mudra.console.pages.public.status.status_files import (
    ATOM,
    RSS,
    atom_feed,
    badge,
    badge_of_all,
    rss_feed,
)
from mudra.console.pages.public.status.status_headline import headline
from mudra.console.pages.public.status.status_lines import (
    FipState,
    find_state,
    line_of,
    names_of,
    states_of,
)
from mudra.console.pictures.share_card import ShareCard, is_drawable
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import described
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.http.response.http_refusals import Unavailable
from mudra.http.response.json_response import refusal
from mudra.http.response.open_data import OPEN_DATA, OPEN_HEADERS
from mudra.http.response.response_body import CsvText
from mudra.levels.printing.published import NOT_PUBLISHED, PublicLevels
from mudra.localization.language import current
from mudra.metrics.public_status.public_rows import is_current
from mudra.metrics.public_status.status_history import StatusSnapshot, history_csv

_STATUS: Final = "Status"
_SHORT: Final = {
    "good": "Operational",
    "warn": "Disrupted earlier",
    "bad": "Disrupted",
    "quiet": "No data",
}
"""The state of the network where its headline has letters that the font has not."""
_PNG: Final = "image/png"
_SVG: Final = "image/svg+xml"
_REVALIDATED: Final = {
    "ETag": "The version of the answer; sent back in If-None-Match it gives 304."
}


@get(["/status/feed.atom", "/status/feed.rss"], include_in_schema=False, opt=OPEN_DATA)
async def status_feed(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str] | Response[bytes]:
    """Return the latest incidents of all institutions."""

    def made(snapshot: StatusSnapshot) -> Response[bytes]:
        title = f"{dependencies.settings.network_name}: incidents"
        return _feed(request, dependencies, snapshot, title)

    return await _of_network(request, dependencies, cache, made)


@get(
    ["/status/fip/{fip_id:str}/feed.atom", "/status/fip/{fip_id:str}/feed.rss"],
    include_in_schema=False,
    opt=OPEN_DATA,
)
async def status_feed_of_fip(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    cache: InjectedStatusCache,
    fip_id: FromPath[str],
) -> Response[str] | Response[bytes]:
    """Return the latest incidents of one institution."""

    def made(snapshot: StatusSnapshot, state: FipState) -> Response[bytes]:
        title, own = f"{state.fip.name}: incidents", state.fip.fip_id
        return _feed(request, dependencies, snapshot, title, own)

    return await _of_fip(request, dependencies, cache, fip_id, made)


def _feed(
    request: AnyRequest,
    dependencies: HttpDependencies,
    snapshot: StatusSnapshot,
    title: str,
    fip_id: str = "",
) -> Response[bytes]:
    """Returns a feed in the format that the address ends with."""
    rss = request.url.path.endswith(".rss")
    body = (rss_feed if rss else atom_feed)(snapshot, title, _root(dependencies), fip_id)
    answer = _shared(body, RSS if rss else ATOM)
    answer.headers["Link"] = _license(dependencies)
    return answer


@get("/status/badge.svg", include_in_schema=False, opt=OPEN_DATA)
async def status_badge(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str] | Response[bytes]:
    """Return the badge of the network."""

    def made(snapshot: StatusSnapshot) -> Response[bytes]:
        states = states_of(snapshot, dependencies.clock())
        return _shared(badge_of_all(states, dependencies.settings.network_name), _SVG)

    return await _of_network(request, dependencies, cache, made)


@get("/status/fip/{fip_id:str}/badge.svg", include_in_schema=False, opt=OPEN_DATA)
async def status_badge_of_fip(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    cache: InjectedStatusCache,
    fip_id: FromPath[str],
) -> Response[str] | Response[bytes]:
    """Return the badge of one institution."""

    def made(_: StatusSnapshot, state: FipState) -> Response[bytes]:
        return _shared(badge(state.fip.name, state.state, state.tone), _SVG)

    return await _of_fip(request, dependencies, cache, fip_id, made)


@get("/status/card.png", include_in_schema=False, opt=OPEN_DATA)
async def status_card(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[str] | Response[bytes]:
    """Return the picture that other sites show with a link to the status of the network."""
    cached = await cache.get(dependencies)
    if cached is None:
        return _not_yet(request, dependencies)
    snapshot, now = cached.snapshot, dependencies.clock()
    silent_since = None if is_current(snapshot.reported_until, now) else snapshot.reported_until
    names = names_of(snapshot.fips)
    text, tone = headline(states_of(snapshot, now), names, silent_since)
    card = ShareCard(
        _STATUS,
        dependencies.settings.network_name,
        text if is_drawable(text) else _SHORT[tone],
        tone,
        "",
        _as_of(f"{len(names)} institutions", snapshot),
    )
    return (await cache.card("", card, _picture)).to(request)


@get("/status/fip/{fip_id:str}/card.png", include_in_schema=False, opt=OPEN_DATA)
async def status_card_of_fip(
    request: AnyRequest,
    dependencies: InjectedDependencies,
    cache: InjectedStatusCache,
    fip_id: FromPath[str],
) -> Response[str] | Response[bytes]:
    """Return the picture that other sites show with a link to the status of an institution."""
    cached = await cache.get(dependencies)
    if cached is None:
        return _not_yet(request, dependencies)
    state = find_state(cached.snapshot, fip_id, dependencies.clock())
    if state is None:
        return no_such_page(dependencies, public=True)
    line = line_of(state)
    card = ShareCard(
        dependencies.settings.network_name,
        line.fip.name if is_drawable(line.fip.name) else line.fip.fip_id,
        state.state,
        state.tone,
        line.marks.lstrip("n"),
        _as_of(line.summary, cached.snapshot),
    )
    return (await cache.card(fip_id, card, _picture)).to(request)


def _picture(drawn: bytes) -> Response[bytes]:
    return _shared(drawn, _PNG)


def _as_of(text: str, snapshot: StatusSnapshot) -> str:
    """Returns a note with the day: a card with the minute would be drawn for each window."""
    return f"{text} · {current().day(snapshot.as_of.date())}"


async def _of_network(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cache: StatusCache,
    made: Callable[[StatusSnapshot], Response[bytes]],
) -> Response[str] | Response[bytes]:
    """Returns a file made of the latest snapshot; 503 while there is none."""
    cached = await cache.get(dependencies)
    if cached is None:
        return _not_yet(request, dependencies)
    return await cache.answer(request, dependencies, cached, partial(made, cached.snapshot))


async def _of_fip(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cache: StatusCache,
    fip_id: str,
    made: Callable[[StatusSnapshot, FipState], Response[bytes]],
) -> Response[str] | Response[bytes]:
    """Returns a file about one institution; 404 for one that the snapshot does not have."""
    cached = await cache.get(dependencies)
    if cached is None:
        return _not_yet(request, dependencies)
    snapshot = cached.snapshot

    def of_state() -> Response[bytes] | None:
        state = find_state(snapshot, fip_id, dependencies.clock())
        return None if state is None else made(snapshot, state)

    return await cache.answer(request, dependencies, cached, of_state)


@get(
    "/status/network.json",
    opt=OPEN_DATA,
    tags=["Public status"],
    operation_class=described(
        "Get the status of the network", None, StatusSnapshot, headers=_REVALIDATED, traced=False
    ),
)
async def status_json(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[bytes] | Stream:
    """Return the snapshot as JSON: days, APIs, incidents."""
    return await _large(
        request, dependencies, cache, "network.json", "application/json", msgspec.json.encode
    )


@get(
    "/status/network.csv",
    opt=OPEN_DATA,
    tags=["Public status"],
    operation_class=described(
        "Get the days of the network as CSV", None, CsvText, headers=_REVALIDATED, traced=False
    ),
)
async def status_csv(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[bytes] | Stream:
    """Return the days as CSV."""
    return await _large(
        request, dependencies, cache, "network.csv", "text/csv",
        lambda snapshot: history_csv(snapshot).encode(),
    )  # fmt: skip


@get(
    "/status/levels.json",
    opt=OPEN_DATA,
    tags=["Public status"],
    operation_class=described(
        "Get the published service levels",
        None,
        PublicLevels,
        conflicts=(NOT_PUBLISHED,),
        headers=_REVALIDATED,
        traced=False,
    ),
)
async def levels_json(
    request: AnyRequest, dependencies: InjectedDependencies, cache: InjectedStatusCache
) -> Response[bytes] | Stream:
    """Return what each FIP delivered in the last months; 404 where the operator publishes none."""
    cached = await cache.get(dependencies)
    if cached is None:
        return _not_yet(request, dependencies)
    if cached.levels is None:
        return refusal(new_context(request, dependencies).envelope, NOT_PUBLISHED).response()
    file = await cache.file("levels.json", cached.levels, msgspec.json.encode)
    answer = _shared(b"", "application/json", "levels.json")
    answer.headers["Link"] = _license(dependencies)
    return public_file(request, answer, file)


@get("/status/schema.json", include_in_schema=False, opt=OPEN_DATA)
async def status_schema(request: AnyRequest) -> Response[str] | Response[bytes]:
    """Return the JSON Schema of the snapshot; docs/reference/open-data.md has it too."""
    return _schema().to(request)


@kept_once
def _schema() -> PublicAnswer:
    body = msgspec.json.encode(msgspec.json.schema(StatusSnapshot))
    return for_all(_shared(body, "application/schema+json"))


async def _large(
    request: AnyRequest,
    dependencies: HttpDependencies,
    cache: StatusCache,
    name: str,
    media_type: str,
    made: Callable[[StatusSnapshot], bytes],
) -> Response[bytes] | Stream:
    """Returns a file of megabytes, which is made once for all its readers."""
    cached = await cache.get(dependencies)
    if cached is None:
        return _not_yet(request, dependencies)
    file = await cache.file(name, cached.snapshot, made)
    answer = _shared(b"", media_type, name)
    answer.headers["Link"] = f'</status/schema.json>; rel="describedby", {_license(dependencies)}'
    return public_file(request, answer, file)


def _shared(body: bytes, media_type: str, file_name: str = "") -> Response[bytes]:
    """Returns a file that pages of others may read; with a name it is downloaded."""
    headers = {**OPEN_HEADERS, "X-Content-Type-Options": "nosniff"}
    if file_name:
        headers["Content-Disposition"] = f'attachment; filename="{file_name}"'
    return Response(body, media_type=media_type, headers=headers)


def _license(dependencies: HttpDependencies) -> str:
    """Returns the link to the license of the data (RFC 8288)."""
    return f'<{dependencies.settings.status_license}>; rel="license"'


def _not_yet(request: AnyRequest, dependencies: HttpDependencies) -> Response[bytes]:
    return refusal(new_context(request, dependencies).envelope, Unavailable()).response()


def _root(dependencies: HttpDependencies) -> str:
    """Returns the public address of the status page: next to the token service."""
    return urljoin(dependencies.settings.issuer, "/status")


handlers: Final[list[ControllerRouterHandler]] = [
    status_json,
    status_csv,
    levels_json,
    status_schema,
    status_feed,
    status_feed_of_fip,
    status_badge,
    status_badge_of_fip,
    status_card,
    status_card_of_fip,
]
