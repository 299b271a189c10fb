"""POST {prefix}/push (spec 4.5): an AA's agent reports ten minutes."""

from datetime import datetime, timedelta
from typing import Final, assert_never

import structlog
from litestar import Response, post
from msgspec import UnsetType

from mudra.http.auth.bearer import calling_entity
from mudra.http.auth.gates import EntityCall, entity
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.health.metrics_responses import PushResponse, ReceiptsResponse, receipts_response
from mudra.http.openapi.operation import described
from mudra.http.request.body.request_body import METRICS_LIMITS
from mudra.http.request.health_requests import ReceiptsParameters, time_range
from mudra.http.request.push_check import PushedBody
from mudra.http.request.request_context import AnyRequest, Envelope, RequestContext, new_txn_id
from mudra.http.response import conflicts
from mudra.http.response.http_refusals import InvalidField
from mudra.http.response.json_response import JsonResponse, refusal, success
from mudra.http.route import get
from mudra.metrics.payload.ingest_rule import TxnIdReused
from mudra.metrics.payload.push_limits import TooBusyForPushes, TooManyPushes
from mudra.metrics.payload.push_report import (
    NotYourMetrics,
    Push,
    PushOutcome,
    Received,
    push_report,
)
from mudra.metrics.payload.receipt_service import ReceiptService, ReceiptsQuery
from mudra.metrics.payload.report import Report
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import ReportRefused
from mudra.server_protocol.body_reader import read_packed_body
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller

AGENT_NOTE: Final = "mudra-agent-note"
MAX_NOTE: Final = 300
_log = structlog.get_logger()


@post(
    "/push",
    status_code=200,
    operation_class=described(
        "Push metrics",
        Report,
        PushResponse,
        needs="Entity Access Token of the AA in `aaId`",
        conflicts=conflicts.PUSH,
        findings=True,
    ),
)
async def push(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Store a report; the response is sent once it is durable."""
    limits = dependencies.push_limits
    aa = await calling_entity(request, dependencies, EntityType.AA)
    if isinstance(aa, Refusal):
        return refusal(_envelope(dependencies), aa).response()
    too_many = limits.use_rate_of_all(aa.entity_id)
    if too_many is not None:
        return refusal(_envelope(dependencies), too_many).response()
    async with limits.upload(aa.entity_id) as busy:
        if busy is not None:
            return refusal(_envelope(dependencies), busy).response()
        return (await _respond(request, dependencies, aa)).response()


async def _respond(
    request: AnyRequest, dependencies: HttpDependencies, aa: EntityCaller
) -> JsonResponse:
    limits, aa_id = dependencies.push_limits, aa.entity_id
    body = await read_packed_body(request.receive, request.scope["headers"], METRICS_LIMITS)
    if isinstance(body, Refusal):
        return refusal(_envelope(dependencies), body)
    walk = limits.may_be_refused(aa_id)
    checked = await dependencies.check_push(PushedBody(aa_id, body, walk=walk))
    del body
    if isinstance(checked, Refusal) and not isinstance(checked, ReportRefused):
        return refusal(_envelope(dependencies), checked)
    # To send a body may take half a minute, in which the AA may have been suspended.
    again = await dependencies.bearer.admit_again(aa)
    if isinstance(again, Refusal):
        return refusal(_envelope(dependencies), again)
    txn_id = checked.txn_id if isinstance(checked, StorableReport) else new_txn_id()
    context = RequestContext(dependencies, request, txn_id)
    caller = context.caller(f"entity:{aa_id}")
    outcome = await push_report(
        Push(aa_id, checked, dependencies.new_id(), caller), limits, dependencies.transaction
    )
    if not isinstance(outcome, NotYourMetrics | TooManyPushes | TooBusyForPushes):
        _log_note(request.headers.get(AGENT_NOTE), aa_id, txn_id)
    return _rendered(context.envelope, outcome)


def _rendered(envelope: Envelope, outcome: PushOutcome) -> JsonResponse:
    match outcome:
        case Received(status, receipt):
            return success(
                envelope,
                PushResponse(
                    status=status,
                    receipt_id=receipt.receipt_id,
                    findings=list(outcome.findings),
                ),
            )
        case (
            ReportRefused()
            | NotYourMetrics()
            | TooManyPushes()
            | TooBusyForPushes()
            | TxnIdReused()
        ):
            return refusal(envelope, outcome)
        case _:
            assert_never(outcome)


def _log_note(note: str | None, aa_id: str, txn_id: str) -> None:
    """Logs the agent's notes about itself: drops, jumps of its clock."""
    if note:
        _log.warning("agent note", aa_id=aa_id, note=note[:MAX_NOTE], txn_id=txn_id)


def _envelope(dependencies: HttpDependencies) -> Envelope:
    return Envelope(new_txn_id(), dependencies.clock())


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
