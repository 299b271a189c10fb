"""GET {prefix}/receipts: an AA looks up its received and its missing reports."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import UnsetType

from mudra.audit.event import Caller
from mudra.http.auth.as_entity import as_entity
from mudra.http.dependencies import InjectedDependencies
from mudra.http.health.metrics_responses import ReceiptsResponse, receipts_response
from mudra.http.openapi.operation import described
from mudra.http.request.health_requests import ReceiptsParameters, time_range
from mudra.http.request.request_context import AnyRequest, receive_query
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import HandlerResult
from mudra.metrics.payload.receipt_service import ReceiptsQuery
from mudra.shared.entity_type import EntityType
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_DEFAULT_LENGTH: Final = timedelta(days=1)
_MAX_LENGTH: Final = timedelta(days=31)


def receipts_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Returns the handler at every address of the metrics."""

    @get(
        [f"{prefix}/receipts" for prefix in prefixes],
        operation_class=described(
            "Show own receipts", None, ReceiptsResponse, bearer=True, query=ReceiptsParameters
        ),
    )
    async def receipts(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Show receipts, gaps, late windows and findings of the calling AA."""
        context, parameters = receive_query(request, service, ReceiptsParameters)

        async def handle(
            work: UnitOfWork, aa: EntityCaller, _: Caller, parameters: ReceiptsParameters
        ) -> HandlerResult:
            now = service.clock()
            query = _query_of(parameters, now)
            if isinstance(query, InvalidField):
                return query
            page = await work.receipts.page(aa.entity_id, query, now)
            return receipts_response(aa.entity_id, query.within, page)

        return await as_entity(context, parameters, handle, EntityType.AA)

    return [receipts]


def _query_of(parameters: ReceiptsParameters, now: datetime) -> ReceiptsQuery | InvalidField:
    within = time_range(parameters, now, default=_DEFAULT_LENGTH, longest=_MAX_LENGTH)
    if isinstance(within, InvalidField):
        return within
    after = within.start if isinstance(parameters.next, UnsetType) else parameters.next
    if not within.start <= after <= within.end:
        return InvalidField("next must be the value of next in the previous response")
    return ReceiptsQuery(within, after, int(parameters.limit))
