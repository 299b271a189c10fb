"""GET /operator/v1/health/… for operators, {prefix}/health for members (issue 4, items 3 and 4)."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from mudra.http.answer import refusal, success
from mudra.http.bearer import authorization_of
from mudra.http.calling_entity import calling_entity, revoked
from mudra.http.errors import InvalidField
from mudra.http.exchange import AnyRequest, Exchange, new_exchange
from mudra.http.health_picture import coverage, rows_of
from mudra.http.health_shown import rows_as_csv, shown_matrix, shown_range, shown_rows
from mudra.http.metrics_receipts import time_range
from mudra.http.operator_access import operator_refused
from mudra.http.service import Injected, Service
from mudra.identity.roster import Scope
from mudra.metrics.catalogue import RequestType
from mudra.metrics.coverage import TimeRange
from mudra.metrics.picture import Grouping, Row, matrix
from mudra.runtime.work import Work
from mudra.tokens.check import TokenFacts
from mudra.tokens.claims import EntityType

_USUAL: Final = timedelta(days=1)
_LONGEST: Final = timedelta(days=400)
_GROUPINGS: Final = {
    "network": Grouping.NETWORK,
    "fips": Grouping.FIP,
    "aas": Grouping.AA,
    "pairs": Grouping.PAIR,
}
_CALLS: Final = frozenset(str(code) for code in RequestType)


@get("/operator/v1/health/matrix")
async def health_matrix(request: AnyRequest, service: Injected) -> Response[bytes]:
    """AA x FIP with verdicts: `from`, `to`, `type`."""
    exchange = new_exchange(request, service)
    asked = (await operator_refused(exchange, Scope.HEALTH)) or _asked(request, service)
    if not isinstance(asked, TimeRange):
        return refusal(exchange.envelope, asked).response()
    code = request.query_params.get("type", "")
    if code and code not in _CALLS:
        wrong = InvalidField(f"type must be one of {', '.join(sorted(_CALLS))}")
        return refusal(exchange.envelope, wrong).response()
    async with service.open_work() as work:
        pairs = await work.figures.pairs(asked, code)
        heard = await coverage(asked, exchange.service.clock(), work)
    shown = shown_matrix(matrix(pairs), heard.proof())
    return success(exchange.envelope, {**shown_range(asked), **shown}).response()


@get("/operator/v1/health/{grouping:str}")
async def health_rows(
    request: AnyRequest, service: Injected, grouping: FromPath[str]
) -> Response[bytes]:
    """A picture by network, fips, aas or pairs: `from`, `to`, `aaId`, `fipId`, `format=csv`."""
    exchange = new_exchange(request, service)
    asked = (await operator_refused(exchange, Scope.HEALTH)) or _asked(request, service)
    if not isinstance(asked, TimeRange):
        return refusal(exchange.envelope, asked).response()
    if grouping not in _GROUPINGS:
        wrong = InvalidField("the path must end in network, fips, aas, pairs or matrix")
        return refusal(exchange.envelope, wrong).response()
    query = request.query_params
    async with service.open_work() as work:
        rows = await rows_of(
            asked,
            _GROUPINGS[grouping],
            exchange.service.clock(),
            work,
            aa_id=query.get("aaId"),
            fip_id=query.get("fipId"),
        )
    if query.get("format") == "csv":
        return Response(
            rows_as_csv(rows).encode(),
            media_type="text/csv; charset=utf-8",
            headers={"Cache-Control": "no-store", "X-Request-Id": exchange.txn_id},
        )
    return success(exchange.envelope, {**shown_range(asked), "rows": shown_rows(rows)}).response()


def member_health_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get([f"{prefix}/health" for prefix in prefixes])
    async def health(request: AnyRequest, service: Injected) -> Response[bytes]:
        """What concerns the calling entity: an AA's own pairs, a FIP as seen by all AAs."""
        exchange = new_exchange(request, service)
        facts = await calling_entity(
            authorization_of(request), service, EntityType.AA, EntityType.FIP
        )
        if not isinstance(facts, TokenFacts):
            return refusal(exchange.envelope, facts).response()
        asked = _asked(request, service)
        if not isinstance(asked, TimeRange):
            return refusal(exchange.envelope, asked).response()
        async with service.open_work() as work:
            ended = await revoked(facts, work)
            rows = () if ended else await _own_rows(facts, asked, exchange, work)
        if ended:
            return refusal(exchange.envelope, ended).response()
        return success(
            exchange.envelope, {**shown_range(asked), "rows": shown_rows(rows)}
        ).response()

    return [health]


async def _own_rows(
    facts: TokenFacts, asked: TimeRange, exchange: Exchange, work: Work
) -> tuple[Row, ...]:
    own = facts.subject
    if facts.claims.get("roles") == EntityType.AA.value:
        return await rows_of(asked, Grouping.PAIR, exchange.service.clock(), work, aa_id=own)
    return await rows_of(asked, Grouping.FIP, exchange.service.clock(), work, fip_id=own)


def _asked(request: AnyRequest, service: Service) -> TimeRange | InvalidField:
    query: Mapping[str, str] = request.query_params
    return time_range(query, service.clock(), usual=_USUAL, longest=_LONGEST)
