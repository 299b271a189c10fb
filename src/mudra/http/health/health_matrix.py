"""GET /operator/v1/health/… for operators, {prefix}/health for members (issue 4, items 3 and 4)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.audit.event import Caller
from mudra.bootstrap.unit_of_work import Work
from mudra.http.auth.as_entity import member_call
from mudra.http.auth.as_operator import operator_call
from mudra.http.dependencies import Injected
from mudra.http.health.health_requests import (
    GROUPED_BY,
    LONGEST,
    GroupingInPath,
    MatrixQuery,
    PictureQuery,
    TimeQuery,
    time_range,
)
from mudra.http.health.health_responses import MatrixAnswer, PictureAnswer
from mudra.http.health.health_shapes import rows_as_csv, shown_matrix, shown_range, shown_rows
from mudra.http.health.picture import coverage, rows_of
from mudra.http.openapi.operation import CSV, JSON, described
from mudra.http.request.request_context import AnyRequest, Exchange, receive_query
from mudra.http.response.errors import InvalidField
from mudra.identity.memberships.memberships import Scope
from mudra.metrics.health.picture import Grouping, Row, matrix
from mudra.metrics.rollup.coverage import TimeRange
from mudra.tokens.authentication.token_check import TokenFacts
from mudra.tokens.issuing.claims import EntityType

_USUAL: Final = timedelta(days=1)


@get(
    "/operator/v1/health/matrix",
    operation_class=described(
        "Show the matrix of AAs and FIPs", None, MatrixAnswer, bearer=True, query=MatrixQuery
    ),
)
async def health_matrix(request: AnyRequest, service: Injected) -> Response[bytes]:
    """Show AA x FIP with a verdict for each bad cell; over all calls without `type`."""
    exchange, order = receive_query(request, service, MatrixQuery)

    async def act(work: Work, _: Caller) -> object:
        assert isinstance(order, MatrixQuery)
        asked = _asked(order, exchange)
        if not isinstance(asked, TimeRange):
            return asked
        pairs = await work.figures.pairs(asked, order.type)
        heard = await coverage(asked, service.clock(), work)
        return {**shown_range(asked), **shown_matrix(matrix(pairs), heard.proof())}

    return await operator_call(exchange, order, Scope.HEALTH, act)


@get(
    "/operator/v1/health/{grouping:str}",
    operation_class=described(
        *("Show a picture of health", None, PictureAnswer),
        bearer=True,
        query=PictureQuery,
        forms=(JSON, CSV),
    ),
)
async def health_rows(
    request: AnyRequest, service: Injected, grouping: GroupingInPath
) -> Response[bytes]:
    """Show requests, success, errors, times and volume by network, fips, aas or pairs."""
    exchange, order = receive_query(request, service, PictureQuery)
    rows: list[tuple[Row, ...]] = []

    async def act(work: Work, _: Caller) -> object:
        assert isinstance(order, PictureQuery)
        asked = _asked(order, exchange)
        if not isinstance(asked, TimeRange):
            return asked
        if grouping not in GROUPED_BY:
            return InvalidField(f"the path must end in {', '.join(GROUPED_BY)} or matrix")
        rows.append(
            await rows_of(
                asked,
                GROUPED_BY[grouping],
                service.clock(),
                work,
                aa_id=order.aa_id or None,
                fip_id=order.fip_id or None,
            )
        )
        wanted = [] if order.format == "csv" else shown_rows(rows[0])
        return {**shown_range(asked), "rows": wanted}

    answer = await operator_call(exchange, order, Scope.HEALTH, act)
    if not rows or not isinstance(order, PictureQuery) or order.format != "csv":
        return answer
    return Response(
        rows_as_csv(rows[0]).encode(),
        media_type=f"{CSV}; charset=utf-8",
        headers={"Cache-Control": "no-store", "X-Request-Id": exchange.txn_id},
    )


def member_health_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get(
        [f"{prefix}/health" for prefix in prefixes],
        operation_class=described(
            "Show own health", None, PictureAnswer, bearer=True, query=TimeQuery
        ),
    )
    async def health(request: AnyRequest, service: Injected) -> Response[bytes]:
        """Show what concerns the calling entity: an AA's own pairs, a FIP as all AAs see it."""
        exchange, order = receive_query(request, service, TimeQuery)

        async def act(work: Work, facts: TokenFacts, _: Caller) -> object:
            assert isinstance(order, TimeQuery)
            asked = _asked(order, exchange)
            if not isinstance(asked, TimeRange):
                return asked
            rows = await _own_rows(facts, asked, exchange, work)
            return {**shown_range(asked), "rows": shown_rows(rows)}

        return await member_call(exchange, order, act, EntityType.AA, EntityType.FIP)

    return [health]


async def _own_rows(
    facts: TokenFacts, asked: TimeRange, exchange: Exchange, work: Work
) -> tuple[Row, ...]:
    own = facts.subject
    if facts.claims.get("roles") == EntityType.AA.value:
        return await rows_of(asked, Grouping.PAIR, exchange.service.clock(), work, aa_id=own)
    return await rows_of(asked, Grouping.FIP, exchange.service.clock(), work, fip_id=own)


def _asked(query: TimeQuery, exchange: Exchange) -> TimeRange | InvalidField:
    return time_range(query, exchange.service.clock(), usual=_USUAL, longest=LONGEST)
