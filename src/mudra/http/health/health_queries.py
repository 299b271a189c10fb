"""GET /operator/v1/health/… for operators, {prefix}/health for members."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final, TypeAlias

from litestar.params import PathParameter

from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.request.health_requests import (
    GROUPED_BY,
    MAX_LENGTH,
    MatrixParameters,
    PictureParameters,
    TimeParameters,
    time_range,
)
from mudra.http.response.health_responses import (
    MatrixResponse,
    PictureResponse,
    matrix_response,
    picture_response,
    rows_as_csv,
)
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.response_body import CsvText
from mudra.http.route import get
from mudra.identity.operators.operator import Scope
from mudra.metrics.health.health_service import HealthService
from mudra.metrics.health.picture import Row, TooManyPairs
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import PAGE_S

_GroupingInPath: TypeAlias = Annotated[
    str,
    PathParameter(description="what one row is about", schema_extra={"enum": list(GROUPED_BY)}),
]
_DEFAULT_LENGTH: Final = timedelta(days=1)
_FEW_ROWS: Final = 100


@get(
    "/operator/v1/health/matrix",
    "Show the matrix of AAs and FIPs",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
    reads=True,
)
async def health_matrix(call: OperatorCall[MatrixParameters]) -> MatrixResponse | Refusal:
    """Show AA x FIP with the causes of this time; over all calls without `type`."""
    now = call.dependencies.clock()
    within = _within(call.body, now)
    if isinstance(within, InvalidField):
        return within
    matrix = await call.tx.service(HealthService).matrix(within, call.body.type)
    coverage = await call.tx.service(HealthService).coverage(within, now)
    planned = await call.tx.service(HealthService).maintenances(within, now)
    return await asyncio.to_thread(matrix_response, within, matrix, coverage.proof(), planned)


@get(
    "/operator/v1/health/{grouping:str}",
    "Show a picture of health",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
    reads=True,
)
async def health_rows(
    call: OperatorCall[PictureParameters], grouping: _GroupingInPath
) -> PictureResponse | CsvText | Refusal:
    """Show requests, success, errors, times and volume by network, fips, aas or pairs.

    Where more than 4,000 pairs of AA and FIP reported, `pairs` is 400 without `aaId` or `fipId`.
    """
    now = call.dependencies.clock()
    within = _within(call.body, now)
    if isinstance(within, InvalidField):
        return within
    if grouping not in GROUPED_BY:
        return InvalidField(f"the path must end in {', '.join(GROUPED_BY)} or matrix")
    rows = await call.tx.service(HealthService).rows(
        within,
        GROUPED_BY[grouping],
        now,
        aa_id=call.body.aa_id or None,
        fip_id=call.body.fip_id or None,
    )
    if isinstance(rows, TooManyPairs):
        return rows
    if call.body.format == "csv":
        return CsvText(await asyncio.to_thread(rows_as_csv, rows))
    named = {one for one in (call.body.aa_id, call.body.fip_id) if one}
    planned = await call.tx.service(HealthService).maintenances(within, now, named or None)
    return await _response(within, rows, planned)


@get("/health", "Show own health", gate=entity(EntityType.AA, EntityType.FIP), within_s=PAGE_S)
async def own_health(call: EntityCall[TimeParameters]) -> PictureResponse | Refusal:
    """Show what concerns the calling entity: an AA's own pairs, a FIP as all AAs see it."""
    now = call.dependencies.clock()
    within = _within(call.body, now)
    if isinstance(within, InvalidField):
        return within
    own = await call.tx.service(HealthService).of_member(
        call.entity.entity_id, call.entity.entity_type, within, now, by_aa=False
    )
    concerned = {call.entity.entity_id} | {one.subject.fip_id for one in own.rows}
    planned = await call.tx.service(HealthService).maintenances(within, now, concerned)
    return await _response(within, own.rows, planned)


async def _response(
    within: TimeRange, rows: Sequence[Row], planned: Sequence[Silence]
) -> PictureResponse:
    """Put many rows together in a thread: an AA's FIPs have 28,000 APIs."""
    if len(rows) <= _FEW_ROWS:
        return picture_response(within, rows, planned)
    return await asyncio.to_thread(picture_response, within, rows, planned)


def _within(parameters: TimeParameters, now: datetime) -> TimeRange | InvalidField:
    return time_range(parameters, now, default=_DEFAULT_LENGTH, longest=MAX_LENGTH)
