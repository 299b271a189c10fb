"""GET /operator/v1/health/… for operators, {prefix}/health for members (issue 4, items 3 and 4)."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.audit.event import Caller
from mudra.http.auth.as_entity import as_entity
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.health.health_requests import (
    GROUPED_BY,
    MAX_LENGTH,
    GroupingInPath,
    MatrixQuery,
    PictureQuery,
    TimeQuery,
    time_range,
)
from mudra.http.health.health_responses import MatrixResponse, PictureResponse
from mudra.http.health.health_shapes import matrix_details, range_details, row_details, rows_as_csv
from mudra.http.health.picture import coverage, rows_of
from mudra.http.openapi.operation import CSV, JSON, described
from mudra.http.request.request_context import AnyRequest, RequestContext, receive_query
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.picture import Grouping, Row, matrix
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_USUAL: Final = timedelta(days=1)


@get(
    "/operator/v1/health/matrix",
    operation_class=described(
        "Show the matrix of AAs and FIPs", None, MatrixResponse, bearer=True, query=MatrixQuery
    ),
)
async def health_matrix(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show AA x FIP with a verdict for each bad cell; over all calls without `type`."""
    context, order = receive_query(request, service, MatrixQuery)

    async def act(work: UnitOfWork, _: Caller, order: MatrixQuery) -> HandlerResult:
        asked = _asked(order, context)
        if not isinstance(asked, TimeRange):
            return asked
        pairs = await work.figures.pairs(asked, order.type)
        heard = await coverage(asked, service.clock(), work)
        return {**range_details(asked), **matrix_details(matrix(pairs), heard.proof())}

    return await as_operator(context, order, Scope.HEALTH, act)


@get(
    "/operator/v1/health/{grouping:str}",
    operation_class=described(
        *("Show a picture of health", None, PictureResponse),
        bearer=True,
        query=PictureQuery,
        forms=(JSON, CSV),
    ),
)
async def health_rows(
    request: AnyRequest, service: InjectedDependencies, grouping: GroupingInPath
) -> Response[bytes]:
    """Show requests, success, errors, times and volume by network, fips, aas or pairs."""
    context, order = receive_query(request, service, PictureQuery)
    rows: list[tuple[Row, ...]] = []

    async def act(work: UnitOfWork, _: Caller, order: PictureQuery) -> HandlerResult:
        asked = _asked(order, context)
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
        wanted = [] if order.format == "csv" else row_details(rows[0])
        return {**range_details(asked), "rows": wanted}

    answer = await as_operator(context, order, Scope.HEALTH, act)
    if not rows or not isinstance(order, PictureQuery) or order.format != "csv":
        return answer
    return Response(
        rows_as_csv(rows[0]).encode(),
        media_type=f"{CSV}; charset=utf-8",
        headers={"Cache-Control": "no-store", "X-Request-Id": context.txn_id},
    )


def member_health_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get(
        [f"{prefix}/health" for prefix in prefixes],
        operation_class=described(
            "Show own health", None, PictureResponse, bearer=True, query=TimeQuery
        ),
    )
    async def health(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Show what concerns the calling entity: an AA's own pairs, a FIP as all AAs see it."""
        context, order = receive_query(request, service, TimeQuery)

        async def act(
            work: UnitOfWork, entity: EntityCaller, _: Caller, order: TimeQuery
        ) -> HandlerResult:
            assert isinstance(order, TimeQuery)
            asked = _asked(order, context)
            if not isinstance(asked, TimeRange):
                return asked
            rows = await _own_rows(entity, asked, context, work)
            return {**range_details(asked), "rows": row_details(rows)}

        return await as_entity(context, order, act, EntityType.AA, EntityType.FIP)

    return [health]


async def _own_rows(
    entity: EntityCaller, asked: TimeRange, context: RequestContext, work: UnitOfWork
) -> tuple[Row, ...]:
    own = entity.entity_id
    if entity.entity_type is EntityType.AA:
        return await rows_of(asked, Grouping.PAIR, context.service.clock(), work, aa_id=own)
    return await rows_of(asked, Grouping.FIP, context.service.clock(), work, fip_id=own)


def _asked(query: TimeQuery, context: RequestContext) -> TimeRange | InvalidField:
    return time_range(query, context.service.clock(), usual=_USUAL, longest=MAX_LENGTH)
