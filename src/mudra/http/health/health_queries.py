"""GET /operator/v1/health/… for operators, {prefix}/health for members."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler

from mudra.audit.event import Caller
from mudra.http.auth.as_entity import as_entity
from mudra.http.auth.as_operator import as_operator
from mudra.http.dependencies import InjectedDependencies
from mudra.http.openapi.operation import CSV, JSON, described
from mudra.http.request.health_requests import (
    GROUPED_BY,
    MAX_LENGTH,
    GroupingInPath,
    MatrixParameters,
    PictureParameters,
    TimeParameters,
    time_range,
)
from mudra.http.request.request_context import AnyRequest, receive_query
from mudra.http.response.health_responses import (
    MatrixResponse,
    PictureResponse,
    matrix_response,
    picture_response,
    rows_as_csv,
)
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import HandlerResult
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.picture import Row
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_DEFAULT_LENGTH: Final = timedelta(days=1)


@get(
    "/operator/v1/health/matrix",
    operation_class=described(
        "Show the matrix of AAs and FIPs", None, MatrixResponse, bearer=True, query=MatrixParameters
    ),
)
async def health_matrix(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
    """Show AA x FIP with a verdict for each bad cell; over all calls without `type`."""
    context, parameters = receive_query(request, service, MatrixParameters)

    async def handle(work: UnitOfWork, _: Caller, parameters: MatrixParameters) -> HandlerResult:
        now = service.clock()
        within = _within(parameters, now)
        if isinstance(within, InvalidField):
            return within
        matrix = await work.health.matrix(within, parameters.type)
        coverage = await work.health.coverage(within, now)
        return matrix_response(within, matrix, coverage.proof())

    return await as_operator(context, parameters, Scope.HEALTH, handle)


@get(
    "/operator/v1/health/{grouping:str}",
    operation_class=described(
        *("Show a picture of health", None, PictureResponse),
        bearer=True,
        query=PictureParameters,
        forms=(JSON, CSV),
    ),
)
async def health_rows(
    request: AnyRequest, service: InjectedDependencies, grouping: GroupingInPath
) -> Response[bytes]:
    """Show requests, success, errors, times and volume by network, fips, aas or pairs."""
    context, parameters = receive_query(request, service, PictureParameters)
    rows: list[tuple[Row, ...]] = []

    async def handle(work: UnitOfWork, _: Caller, parameters: PictureParameters) -> HandlerResult:
        now = service.clock()
        within = _within(parameters, now)
        if isinstance(within, InvalidField):
            return within
        if grouping not in GROUPED_BY:
            return InvalidField(f"the path must end in {', '.join(GROUPED_BY)} or matrix")
        rows.append(
            await work.health.rows(
                within,
                GROUPED_BY[grouping],
                now,
                aa_id=parameters.aa_id or None,
                fip_id=parameters.fip_id or None,
            )
        )
        return picture_response(within, [] if parameters.format == "csv" else rows[0])

    response = await as_operator(context, parameters, Scope.HEALTH, handle)
    if not rows or not isinstance(parameters, PictureParameters) or parameters.format != "csv":
        return response
    return Response(
        rows_as_csv(rows[0]).encode(),
        media_type=f"{CSV}; charset=utf-8",
        headers={"Cache-Control": "no-store", "X-Request-Id": context.txn_id},
    )


def member_health_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Returns the handler at every address of the metrics."""

    @get(
        [f"{prefix}/health" for prefix in prefixes],
        operation_class=described(
            "Show own health", None, PictureResponse, bearer=True, query=TimeParameters
        ),
    )
    async def health(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Show what concerns the calling entity: an AA's own pairs, a FIP as all AAs see it."""
        context, parameters = receive_query(request, service, TimeParameters)

        async def handle(
            work: UnitOfWork, entity: EntityCaller, _: Caller, parameters: TimeParameters
        ) -> HandlerResult:
            now = service.clock()
            within = _within(parameters, now)
            if isinstance(within, InvalidField):
                return within
            own = await work.health.of_member(
                entity.entity_id, entity.entity_type, within, now, by_aa=False
            )
            return picture_response(within, own.rows)

        return await as_entity(context, parameters, handle, EntityType.AA, EntityType.FIP)

    return [health]


def _within(parameters: TimeParameters, now: datetime) -> TimeRange | InvalidField:
    return time_range(parameters, now, default=_DEFAULT_LENGTH, longest=MAX_LENGTH)
