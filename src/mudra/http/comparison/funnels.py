"""GET /operator/v1/funnel/{by} for operators, {prefix}/funnel/{by} for AAs and FIPs."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Annotated, Final, TypeAlias

from litestar.params import PathParameter
from litestar.types import ControllerRouterHandler

from mudra.comparison.funnel import Funnel
from mudra.comparison.funnel_service import FunnelService
from mudra.http.auth.gates import EntityCall, OperatorCall, entity, operator
from mudra.http.comparison.funnel_responses import (
    FunnelsResponse,
    funnels_as_csv,
    funnels_response,
)
from mudra.http.request.comparison_requests import (
    BY,
    OWN_BY,
    WEEKS,
    FunnelParameters,
    OwnFunnelParameters,
)
from mudra.http.request.health_requests import MAX_LENGTH, TimeParameters, time_range
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.response_body import CsvText
from mudra.http.route import get
from mudra.identity.operators.operator import Scope
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.storage.database.deadline import PAGE_S

_By: TypeAlias = Annotated[
    str, PathParameter(description="what one funnel is about", schema_extra={"enum": list(BY)})
]
_OwnBy: TypeAlias = Annotated[
    str, PathParameter(description="what one funnel is about", schema_extra={"enum": list(OWN_BY)})
]
_USUAL: Final = timedelta(days=7)


@get(
    "/operator/v1/funnel/{by:str}",
    "Show the consent and data funnel",
    gate=operator(Scope.HEALTH),
    within_s=PAGE_S,
    reads=True,
)
async def funnels(
    call: OperatorCall[FunnelParameters], by: _By
) -> FunnelsResponse | CsvText | Refusal:
    """Show seven steps from discovery to fetched data: network, fips, aas, pairs or weeks.

    They are counts of calls, not of people. Where more than 4,000 pairs of AA and FIP reported,
    `pairs` is 400 without `aaId` or `fipId`. Weeks are Monday to Sunday of UTC.
    """
    now, service = call.dependencies.clock(), call.tx.service(FunnelService)
    within = _within(call.body, now)
    if isinstance(within, InvalidField):
        return within
    if by not in BY:
        return InvalidField(f"the path must end in one of {', '.join(BY)}")
    aa_id, fip_id = call.body.aa_id or None, call.body.fip_id or None
    if by == WEEKS:
        found: Sequence[Funnel] | Refusal = await service.weeks(
            within, now, aa_id=aa_id, fip_id=fip_id
        )
    else:
        found = await service.funnels(within, BY[by], now, aa_id=aa_id, fip_id=fip_id)
    if isinstance(found, Refusal):
        return found
    return await _response(within, found, call.body.format)


@get(
    "/funnel/{by:str}",
    "Show the own consent and data funnel",
    gate=entity(EntityType.AA, EntityType.FIP),
    within_s=PAGE_S,
)
async def own_funnels(
    call: EntityCall[OwnFunnelParameters], by: _OwnBy
) -> FunnelsResponse | CsvText | Refusal:
    """Show the caller's own funnel: whole, by the FIPs or AAs it works with, or by week."""
    now, service = call.dependencies.clock(), call.tx.service(FunnelService)
    within = _within(call.body, now)
    if isinstance(within, InvalidField):
        return within
    if by not in OWN_BY:
        return InvalidField(f"the path must end in one of {', '.join(OWN_BY)}")
    mine = call.entity.entity_id
    is_aa = call.entity.entity_type is EntityType.AA
    aa_id, fip_id = (mine, None) if is_aa else (None, mine)
    if by == WEEKS:
        found: Sequence[Funnel] | Refusal = await service.weeks(
            within, now, aa_id=aa_id, fip_id=fip_id
        )
    else:
        grouping = OWN_BY[by]
        found = await service.funnels(within, grouping, now, aa_id=aa_id, fip_id=fip_id)
    if isinstance(found, Refusal):
        return found
    return await _response(within, found, call.body.format)


async def _response(
    within: TimeRange, found: Sequence[Funnel], form: str
) -> FunnelsResponse | CsvText:
    if form == "csv":
        return CsvText(await asyncio.to_thread(funnels_as_csv, found))
    return await asyncio.to_thread(funnels_response, within, found)


def _within(parameters: TimeParameters, now: datetime) -> TimeRange | InvalidField:
    return time_range(parameters, now, default=_USUAL, longest=MAX_LENGTH)


operator_handlers: Final[list[ControllerRouterHandler]] = [funnels]
member_handlers: Final[list[ControllerRouterHandler]] = [own_funnels]
