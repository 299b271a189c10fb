"""GET {prefix}/receipts: an AA looks up its received and its missing reports."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import UnsetType

from mudra.http.auth.gates import EntityCall, entity
from mudra.http.health.metrics_responses import ReceiptsResponse, receipts_response
from mudra.http.request.health_requests import ReceiptsParameters, time_range
from mudra.http.response.http_refusals import InvalidField
from mudra.http.route import get
from mudra.metrics.payload.receipt_service import ReceiptService, ReceiptsQuery
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

_DEFAULT_LENGTH: Final = timedelta(days=1)
_MAX_LENGTH: Final = timedelta(days=31)


@get("/receipts", "Show own receipts", gate=entity(EntityType.AA))
async def own_receipts(call: EntityCall[ReceiptsParameters]) -> ReceiptsResponse | Refusal:
    """Show receipts, gaps, late windows and findings of the calling AA.

    A gap is a report that is not here 15 minutes after its window.
    """
    now = call.dependencies.clock()
    query = _query_of(call.body, now)
    if isinstance(query, InvalidField):
        return query
    page = await call.tx.service(ReceiptService).page(call.entity.entity_id, query, now)
    return receipts_response(call.entity.entity_id, query.within, page)


def _query_of(parameters: ReceiptsParameters, now: datetime) -> ReceiptsQuery | InvalidField:
    within = time_range(parameters, now, default=_DEFAULT_LENGTH, longest=_MAX_LENGTH)
    if isinstance(within, InvalidField):
        return within
    after = within.start if isinstance(parameters.next, UnsetType) else parameters.next
    if not within.start <= after <= within.end:
        return InvalidField("next must be the value of next in the previous response")
    return ReceiptsQuery(within, after, int(parameters.limit))
