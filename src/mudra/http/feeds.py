"""The health feed for FIUs and AAs, and the status of the network for everybody (issue 4, 6).

Both are kept for some seconds: whoever reads them, the database is asked once.
"""

import asyncio
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from typing import Final

import msgspec
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.http.answer import refusal
from mudra.http.bearer import authorization_of
from mudra.http.calling_entity import calling_entity, revoked
from mudra.http.exchange import AnyRequest, new_exchange
from mudra.http.service import Injected, Service
from mudra.metrics.catalogue import Tag, window_start
from mudra.metrics.coverage import TimeRange
from mudra.metrics.feed import HealthFeed, health_feed, public_csv, public_status
from mudra.metrics.picture import Coverage, expected_windows
from mudra.metrics.rollup import Rollup
from mudra.tokens.check import TokenFacts
from mudra.tokens.claims import EntityType, TokenKind

FEED_SPAN: Final = timedelta(hours=1)
PUBLIC_SPAN: Final = timedelta(days=1)
KEPT_S: Final = 10.0
JSON: Final = "application/json"
CSV: Final = "text/csv; charset=utf-8"


@dataclass(frozen=True, slots=True)
class NetworkHealth:
    """Sums over all AAs by FIP, for the windows up to the last closed one."""

    fips: dict[str, dict[tuple[Tag, str], Rollup]]
    within: TimeRange
    coverage: Coverage


class Kept:
    """One answer for all who ask within some seconds and before the next window closes."""

    def __init__(self, span: timedelta) -> None:
        self._span = span
        self._lock = asyncio.Lock()
        self._until = 0.0
        self._closed: datetime | None = None
        self._health: NetworkHealth | None = None

    async def health(self, service: Service) -> NetworkHealth:
        """The health of the network, at most some seconds old."""
        async with self._lock:
            closed = window_start(service.clock())
            if self._health is None or closed != self._closed or monotonic() > self._until:
                self._health = await _read(service, TimeRange(closed - self._span, closed))
                self._closed, self._until = closed, monotonic() + KEPT_S
            return self._health


class Signatures:
    """The signature of the last body, made once however many ask."""

    def __init__(self) -> None:
        self._last: tuple[bytes, str, str] = (b"", "", "")

    def of(self, body: bytes, service: Service) -> str:
        """The detached JWS of a body by the key that signs now."""
        kid = service.signer.signing_kid(TokenKind.ENTITY)
        if self._last[:2] != (body, kid):
            signed = service.signer.sign_detached(TokenKind.ENTITY, body)
            self._last = (body, kid, signed)
        return self._last[2]


async def _read(service: Service, within: TimeRange) -> NetworkHealth:
    async with service.open_work() as work:
        totals = await work.figures.over_aas(within)
        heard = await work.figures.heard(within)
        since = await work.aas_and_fips.reporting_aas()
        live = await work.aas_and_fips.live_fips()
    fips: dict[str, dict[tuple[Tag, str], Rollup]] = {fip: {} for fip in live}
    for cell, sums in totals.items():
        fips.setdefault(cell.fip_id, {})[(cell.tag, cell.type)] = sums
    return NetworkHealth(
        fips, within, Coverage(expected_windows(within, since, service.clock()), heard)
    )


def feed_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the feed's handler at every address of the metrics."""
    kept = Kept(FEED_SPAN)
    signatures = Signatures()

    @get([f"{prefix}/feed" for prefix in prefixes])
    async def feed(request: AnyRequest, service: Injected) -> Response[bytes]:
        """Status, success and p50 by FIP and API over the last hour of closed windows."""
        exchange = new_exchange(request, service)
        facts = await calling_entity(
            authorization_of(request), service, EntityType.FIU, EntityType.AA
        )
        if not isinstance(facts, TokenFacts):
            return refusal(exchange.envelope, facts).response()
        async with service.open_work() as work:
            ended = await revoked(facts, work)
        if ended:
            return refusal(exchange.envelope, ended).response()
        body = msgspec.json.encode(_feed(await kept.health(service)))
        answer = _tagged(request, body, JSON, "private, no-cache")
        answer.headers["Vary"] = "Authorization"
        # As the registry's answers: a copy that is passed on can still be checked.
        answer.headers["x-jws-signature"] = signatures.of(body, service)
        return answer

    return [feed]


def public_status_routes() -> list[HTTPRouteHandler]:
    """Make the handlers of the public status."""
    kept = Kept(PUBLIC_SPAN)

    @get("/status/v1/fips.json")
    async def status_json(request: AnyRequest, service: Injected) -> Response[bytes]:
        """Status by FIP and API over the last day; names no AA."""
        health = await kept.health(service)
        feed = _feed(health)
        body = msgspec.json.encode(
            {"time_range": feed.time_range, "fips": public_status(health.fips)}
        )
        return _tagged(request, body, JSON, "public, max-age=60")

    @get("/status/v1/fips.csv")
    async def status_csv(request: AnyRequest, service: Injected) -> Response[bytes]:
        """The same as CSV."""
        rows = public_status((await kept.health(service)).fips)
        return _tagged(request, public_csv(rows).encode(), CSV, "public, max-age=60")

    return [status_json, status_csv]


def _feed(health: NetworkHealth) -> HealthFeed:
    return health_feed(health.fips, health.within.start, health.within.end, health.coverage.proof())


def _tagged(request: AnyRequest, body: bytes, media_type: str, cache: str) -> Response[bytes]:
    """Answer with an ETag, or 304 when the caller has this already (RFC 9110 13.1.2)."""
    tag = f'"{hashlib.sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": cache, "Access-Control-Allow-Origin": "*"}
    known = [one.strip().removeprefix("W/") for one in _known(request).split(",")]
    if tag in known or "*" in known:
        return Response(b"", status_code=304, headers=headers, media_type=media_type)
    return Response(body, media_type=media_type, headers=headers)


def _known(request: AnyRequest) -> str:
    return request.headers.get("if-none-match", "")
