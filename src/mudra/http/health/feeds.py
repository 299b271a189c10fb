"""The health feed for FIUs and AAs, and the status of the network for everyone.

Both are cached for some seconds, for all readers, as finished bytes (decision 0137).
"""

import asyncio
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from mudra.http.auth.bearer import calling_entity
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.openapi.operation import CSV, JSON, described
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.http.response.entity_tag import entity_tag, has_it
from mudra.http.response.health_responses import PublicStatusResponse
from mudra.http.response.json_response import refusal
from mudra.http.response.open_data import OPEN_DATA, OPEN_HEADERS
from mudra.http.response.response_body import CsvText
from mudra.metrics.health.feed import (
    FeedFacts,
    HealthFeed,
    feed_time,
    health_feed,
)
from mudra.metrics.health.fip_state import no_states
from mudra.metrics.health.latest_health import PUBLIC_SPAN, LatestHealth
from mudra.metrics.health.network_health import NetworkHealth
from mudra.metrics.public_status.public_rows import (
    LastDay,
    PublicRow,
    is_current,
    public_csv,
    public_status,
    unsure,
)
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.shared.waiting.made_once import MadeOnce
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import Signer

_REVALIDATED: Final = {"ETag": "The version of the answer, for If-None-Match."}


class OpenFile(Struct, frozen=True):
    """A finished body with its tag, shared by all answers that carry it."""

    body: bytes
    tag: str


class _MadeFeed(Struct, frozen=True):
    feed: HealthFeed
    file: OpenFile


class Feed:
    """The feed of the network: the states as events compare them, and the body with its tag."""

    def __init__(self, health: LatestHealth) -> None:
        self._health = health
        self._made = MadeOnce(monotonic)

    async def read(self, dependencies: HttpDependencies) -> HealthFeed:
        """Returns the feed, from memory while it is current."""
        return (await self._get(dependencies)).feed

    async def file(self, dependencies: HttpDependencies) -> OpenFile:
        """Returns the same as bytes."""
        return (await self._get(dependencies)).file

    async def signature(self, file: OpenFile, signer: Signer) -> str:
        """Returns the detached JWS of a body by the current signing key."""

        async def sign() -> str:
            return signer.sign_detached(TokenKind.ENTITY, file.body)

        made_of = file.tag, signer.signing_kid(TokenKind.ENTITY)
        return await self._made.get("signature", made_of, sign)

    async def _get(self, dependencies: HttpDependencies) -> _MadeFeed:
        health = await self._health.get(dependencies.reads, dependencies.clock())
        degraded = dependencies.settings.health_feed_degraded
        made = partial(asyncio.to_thread, _made_feed, health, degraded=degraded)
        return await self._made.get("feed", health, made)


def feed_route(source: Feed) -> HTTPRouteHandler:
    """Returns the handler of the feed."""

    @get(
        "/feed",
        operation_class=described(
            "Read the health feed",
            None,
            HealthFeed,
            needs="Entity Access Token of an FIU or AA",
            headers=_REVALIDATED | {"x-jws-signature": "Detached JWS over the body (RFC 7797)."},
        ),
    )
    async def feed(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
        """Show status, success and p50 by FIP and API over the last hour of closed windows."""
        context = new_context(request, dependencies)
        caller = await calling_entity(request, dependencies, EntityType.FIU, EntityType.AA)
        if isinstance(caller, Refusal):
            return refusal(context.envelope, caller).response()
        file = await source.file(dependencies)
        response = _tagged(context, file, JSON, "private, no-cache")
        response.headers["Vary"] = "Authorization"
        # As in the registry: anyone can verify a copy of the body.
        response.headers["x-jws-signature"] = await source.signature(file, dependencies.signer)
        return response

    return feed


def public_status_routes() -> list[HTTPRouteHandler]:
    """Returns the handlers of the public status."""
    latest, made = LatestHealth(PUBLIC_SPAN, monotonic), MadeOnce(monotonic)

    async def read(
        make: Callable[[NetworkHealth, bool], OpenFile], dependencies: HttpDependencies
    ) -> OpenFile:
        health = await latest.get(dependencies.reads, dependencies.clock())
        current = is_current(health.reported_until, dependencies.clock())
        in_thread = partial(asyncio.to_thread, make, health, current)
        return await made.get(make, (health, current), in_thread)

    @get(
        "/status/v1/fips.json",
        opt=OPEN_DATA,
        operation_class=described(
            "Read the public status", None, PublicStatusResponse, headers=_REVALIDATED
        ),
    )
    async def status_json(
        request: AnyRequest, dependencies: InjectedDependencies
    ) -> Response[bytes]:
        """Show status by FIP and API over the last day, from a full hour on; names no AA."""
        return _open(request, dependencies, await read(_json, dependencies), JSON)

    @get(
        "/status/v1/fips.csv",
        opt=OPEN_DATA,
        operation_class=described(
            "Read the public status as CSV", None, CsvText, headers=_REVALIDATED
        ),
    )
    async def status_csv(
        request: AnyRequest, dependencies: InjectedDependencies
    ) -> Response[bytes]:
        """Show the public status as CSV.

        The first line has the names of the columns: those of a FIP in the JSON, in their order.
        """
        return _open(request, dependencies, await read(_csv, dependencies), CSV)

    return [status_json, status_csv]


def _open_file(body: bytes) -> OpenFile:
    return OpenFile(body, entity_tag(body))


def _json(health: NetworkHealth, current: bool) -> OpenFile:
    rows = _public_rows(health, current=current)
    return _open_file(msgspec.json.encode(PublicStatusResponse(feed_time(health.within), rows)))


def _csv(health: NetworkHealth, current: bool) -> OpenFile:
    return _open_file(public_csv(_public_rows(health, current=current)).encode())


def _public_rows(health: NetworkHealth, *, current: bool) -> list[PublicRow]:
    last_day = LastDay(health.own, health.incidents)
    rows = public_status(health.fips, last_day, disputed=health.disputed)
    return rows if current else unsure(rows)


def _made_feed(health: NetworkHealth, *, degraded: bool) -> _MadeFeed:
    proof = health.coverage.proof()
    states = health.states if health.reported_until else no_states()
    facts = FeedFacts(health.disputed, health.maintenance, degraded, health.changed)
    feed = health_feed(health.fips, health.within, proof, states, health.causes, facts)
    return _MadeFeed(feed, _open_file(msgspec.json.encode(feed)))


def _open(
    request: AnyRequest, dependencies: HttpDependencies, file: OpenFile, media_type: str
) -> Response[bytes]:
    """Returns open data: kept by anyone for a minute, under the license of the status page."""
    response = _tagged(new_context(request, dependencies), file, media_type, "public, max-age=60")
    response.headers["Link"] = f'<{dependencies.settings.status_license}>; rel="license"'
    return response


def _tagged(
    context: RequestContext, file: OpenFile, media_type: str, cache: str
) -> Response[bytes]:
    """Returns a response with an ETag, or 304 when the caller has it (RFC 9110 13.1.2)."""
    headers = {
        "ETag": file.tag,
        "Cache-Control": cache,
        **OPEN_HEADERS,
        "X-Request-Id": context.txn_id,
    }
    if has_it(context.request, file.tag):
        return Response(b"", status_code=304, headers=headers, media_type=media_type)
    return Response(file.body, media_type=media_type, headers=headers)
