"""The health feed for FIUs and AAs, and the status of the network for everyone.

Both are cached for some seconds, for all readers, as finished bytes (decision 0137).
"""

from time import monotonic
from typing import Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct

from mudra.http.auth.bearer import calling_entity
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.health.made_of_health import MadeOfHealth, OpenFile, open_file
from mudra.http.openapi.operation import CSV, JSON, described
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.http.response.entity_tag import has_it
from mudra.http.response.health_responses import PublicStatusResponse
from mudra.http.response.json_response import refusal
from mudra.http.response.response_body import CsvText
from mudra.metrics.health.feed import (
    HealthFeed,
    PublicRow,
    feed_time,
    health_feed,
    is_current,
    public_csv,
    public_status,
    unsure,
)
from mudra.metrics.health.fip_state import no_states
from mudra.metrics.health.health_service import NetworkHealth
from mudra.metrics.health.network_health_cache import PUBLIC_SPAN, NetworkHealthCache
from mudra.metrics.health.status_snapshot import READ_S
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.issuing.claims import TokenKind

_REVALIDATED: Final = {"ETag": "The version of the answer, for If-None-Match."}


class Signatures:
    """The signature of the last body, computed once for all readers."""

    def __init__(self) -> None:
        self._last: tuple[bytes, str, str] = (b"", "", "")

    def of(self, body: bytes, dependencies: HttpDependencies) -> str:
        """Returns the detached JWS of a body by the current signing key."""
        kid = dependencies.signer.signing_kid(TokenKind.ENTITY)
        if self._last[:2] != (body, kid):
            signed = dependencies.signer.sign_detached(TokenKind.ENTITY, body)
            self._last = (body, kid, signed)
        return self._last[2]


class _MadeFeed(Struct, frozen=True):
    feed: HealthFeed
    file: OpenFile


class Feed:
    """The feed of the network: the states as events compare them, and the body with its tag."""

    def __init__(self, cache: NetworkHealthCache) -> None:
        self._cache = cache
        self._made = MadeOfHealth(_made_feed)

    async def read(self, dependencies: HttpDependencies) -> HealthFeed:
        """Returns the feed, from memory while it is current."""
        return (await self._get(dependencies)).feed

    async def file(self, dependencies: HttpDependencies) -> OpenFile:
        """Returns the same as bytes."""
        return (await self._get(dependencies)).file

    async def _get(self, dependencies: HttpDependencies) -> _MadeFeed:
        health = await self._cache.get(dependencies.reads, dependencies.clock(), READ_S)
        return await self._made.get(health, current=True)  # its own rule: `MAX_SILENCE`


def feed_route(source: Feed) -> HTTPRouteHandler:
    """Returns the handler of the feed."""
    signatures = Signatures()

    @get(
        "/feed",
        operation_class=described(
            "Read the health feed",
            None,
            HealthFeed,
            bearer=True,
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
        response.headers["x-jws-signature"] = signatures.of(file.body, dependencies)
        return response

    return feed


def public_status_routes() -> list[HTTPRouteHandler]:
    """Returns the handlers of the public status."""
    cache = NetworkHealthCache(PUBLIC_SPAN, monotonic)
    as_json, as_csv = MadeOfHealth(_json), MadeOfHealth(_csv)

    async def read(made: MadeOfHealth[OpenFile], dependencies: HttpDependencies) -> OpenFile:
        health = await cache.get(dependencies.reads, dependencies.clock(), READ_S)
        current = is_current(health.reported_until, dependencies.clock())
        return await made.get(health, current=current)

    @get(
        "/status/v1/fips.json",
        operation_class=described(
            "Read the public status", None, PublicStatusResponse, headers=_REVALIDATED
        ),
    )
    async def status_json(
        request: AnyRequest, dependencies: InjectedDependencies
    ) -> Response[bytes]:
        """Show status by FIP and API over the last day, from a full hour on; names no AA."""
        return _open(request, dependencies, await read(as_json, dependencies), JSON)

    @get(
        "/status/v1/fips.csv",
        operation_class=described(
            "Read the public status as CSV", None, CsvText, headers=_REVALIDATED
        ),
    )
    async def status_csv(
        request: AnyRequest, dependencies: InjectedDependencies
    ) -> Response[bytes]:
        """Show the same as CSV."""
        return _open(request, dependencies, await read(as_csv, dependencies), CSV)

    return [status_json, status_csv]


def _json(health: NetworkHealth, current: bool) -> OpenFile:
    rows = _public_rows(health, current=current)
    return open_file(msgspec.json.encode(PublicStatusResponse(feed_time(health.within), rows)))


def _csv(health: NetworkHealth, current: bool) -> OpenFile:
    return open_file(public_csv(_public_rows(health, current=current)).encode())


def _public_rows(health: NetworkHealth, *, current: bool) -> list[PublicRow]:
    rows = public_status(health.fips, disputed=health.disputed)
    return rows if current else unsure(rows)


def _made_feed(health: NetworkHealth, _: bool) -> _MadeFeed:
    proof = health.coverage.proof()
    states = health.states if health.reported_until else no_states()
    feed = health_feed(health.fips, health.within, proof, states, health.causes, health.disputed)
    return _MadeFeed(feed, open_file(msgspec.json.encode(feed)))


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
        "Access-Control-Allow-Origin": "*",
        "X-Request-Id": context.txn_id,
    }
    if has_it(context.request, file.tag):
        return Response(b"", status_code=304, headers=headers, media_type=media_type)
    return Response(file.body, media_type=media_type, headers=headers)
