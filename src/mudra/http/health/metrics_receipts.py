"""GET {prefix}/receipts: an AA looks up what arrived of its own, and what did not."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from msgspec import Struct, UnsetType

from mudra.audit.event import Caller
from mudra.http.auth.as_entity import as_entity
from mudra.http.dependencies import InjectedDependencies
from mudra.http.health.health_requests import ReceiptsQuery, time_range
from mudra.http.health.metrics_responses import (
    GapDetails,
    ReceiptDetails,
    ReceiptsResponse,
    RefusedDetails,
)
from mudra.http.openapi.operation import described
from mudra.http.request.envelope import Body
from mudra.http.request.request_context import AnyRequest, RequestContext, receive_query
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import HandlerResult
from mudra.metrics.payload.catalogue import WINDOW, Tag, window_start
from mudra.metrics.payload.ingest_rule import Receipt
from mudra.metrics.rollup.coverage import TimeRange, gaps
from mudra.shared.entity_type import EntityType
from mudra.shared.time_text import iso_ms
from mudra.tokens.authentication.bearer import EntityCaller
from mudra.unit_of_work import UnitOfWork

_USUAL: Final = timedelta(days=1)
_MAX_LENGTH: Final = timedelta(days=31)
_REFUSED_SHOWN: Final = 20


class Asked(Struct, frozen=True):
    """Which windows, and from which on this page."""

    within: TimeRange
    after: datetime
    limit: int


def receipts_routes(prefixes: Sequence[str]) -> list[HTTPRouteHandler]:
    """Make the handler at every address of the metrics."""

    @get(
        [f"{prefix}/receipts" for prefix in prefixes],
        operation_class=described(
            "Show own receipts", None, ReceiptsResponse, bearer=True, query=ReceiptsQuery
        ),
    )
    async def receipts(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Show receipts, gaps, late windows and findings of the calling AA."""
        context, order = receive_query(request, service, ReceiptsQuery)

        async def act(
            work: UnitOfWork, entity: EntityCaller, _: Caller, order: ReceiptsQuery
        ) -> HandlerResult:
            assert isinstance(order, ReceiptsQuery)
            asked = _asked(order, service.clock())
            if not isinstance(asked, Asked):
                return asked
            return await _shown(entity.entity_id, asked, context, work)

        return await as_entity(context, order, act, EntityType.AA)

    return [receipts]


async def _shown(aa_id: str, asked: Asked, context: RequestContext, work: UnitOfWork) -> Body:
    within = asked.within
    page = await work.receipts.receipts(aa_id, TimeRange(asked.after, within.end), asked.limit + 1)
    following = None
    if len(page) > asked.limit:
        following = page[asked.limit].key.window
        page = [receipt for receipt in page if receipt.key.window < following]
    since = (await work.aas_and_fips.reporting_aas()).get(aa_id, within.end)
    heard = await work.receipts.windows(aa_id, within)
    closed = min(within.end, window_start(context.service.clock()))
    expected = TimeRange(max(within.start, since), closed)
    refused = await work.receipts.refused(aa_id, within.start, _REFUSED_SHOWN)
    return {
        "aaId": aa_id,
        "from": iso_ms(within.start),
        "to": iso_ms(within.end),
        "receipts": [_receipt(receipt) for receipt in page],
        "gaps": [_gap(tag, gap) for tag in Tag for gap in gaps(expected, heard[tag])],
        "refused": [
            RefusedDetails(at=iso_ms(one.at), total=one.total, findings=list(one.findings))
            for one in refused
        ],
        "next": iso_ms(following) if following else None,
    }


def _receipt(receipt: Receipt) -> ReceiptDetails:
    return ReceiptDetails(
        receipt_id=receipt.receipt_id,
        tag=receipt.key.tag.value,
        window=iso_ms(receipt.key.window),
        version=receipt.version,
        txn_id=receipt.txn_id,
        received_at=iso_ms(receipt.received_at),
        late=receipt.late,
        findings=list(receipt.findings),
    )


def _gap(tag: Tag, gap: TimeRange) -> GapDetails:
    return GapDetails(
        tag=tag.value,
        start=iso_ms(gap.start),
        end=iso_ms(gap.end),
        windows=(gap.end - gap.start) // WINDOW,
    )


def _asked(query: ReceiptsQuery, now: datetime) -> Asked | InvalidField:
    within = time_range(query, now, usual=_USUAL, longest=_MAX_LENGTH)
    if isinstance(within, InvalidField):
        return within
    after = within.start if isinstance(query.next, UnsetType) else query.next
    if not within.start <= after <= within.end:
        return InvalidField("next must be the value of next in the former answer")
    return Asked(within, after, int(query.limit))
