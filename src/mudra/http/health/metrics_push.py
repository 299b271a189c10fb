"""POST {prefix}/push (spec 4.5, decisions 5): an AA's agent reports ten minutes."""

from collections.abc import Sequence
from typing import Final, assert_never

import structlog
from litestar import Response, post
from litestar.handlers import HTTPRouteHandler

from mudra.http.auth.bearer import calling_entity
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.health.metrics_responses import PushResponse
from mudra.http.openapi.operation import described
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.request.request_body import METRICS_LIMITS, read_typed_body
from mudra.http.request.request_context import AnyRequest, RequestContext
from mudra.http.response.json_response import JsonResponse, refusal, success
from mudra.metrics.payload.ingest_rule import TxnIdReused
from mudra.metrics.payload.push_limits import TooManyPushes
from mudra.metrics.payload.push_report import (
    NotYourMetrics,
    Push,
    PushOutcome,
    Received,
    push_report,
)
from mudra.metrics.payload.report import Report
from mudra.metrics.payload.validation import CheckedReport, ReportRefused, check_report
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal

AGENT_NOTE: Final = "mudra-agent-note"
MAX_NOTE: Final = 300
_log = structlog.get_logger()


def push_route(prefixes: Sequence[str]) -> HTTPRouteHandler:
    """Returns the handler at every address where agents push."""

    @post(
        [f"{prefix}/push" for prefix in prefixes],
        status_code=200,
        operation_class=described(
            "Push metrics", Report, PushResponse, bearer=True, conflict=True, findings=True
        ),
    )
    async def push(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Store a report; the response is sent once it is durable."""
        busy = service.push_limits.admit()
        if busy is not None:
            return refusal(_envelope(service), busy).response()
        try:
            return (await _respond(request, service)).response()
        finally:
            service.push_limits.leave()

    return push


async def _respond(request: AnyRequest, service: HttpDependencies) -> JsonResponse:
    aa = await calling_entity(request, service, EntityType.AA)
    if isinstance(aa, Refusal):
        return refusal(_envelope(service), aa)
    body = await read_typed_body(request.receive, request.scope["headers"], METRICS_LIMITS)
    if not isinstance(body, bytes):
        return refusal(_envelope(service), body)
    checked = check_report(body, service.clock())
    del body
    txn_id = checked.report.txn_id if isinstance(checked, CheckedReport) else new_txn_id()
    context = RequestContext(service, request, txn_id)
    caller = context.caller(f"entity:{aa.entity_id}")
    outcome = await push_report(
        Push(aa.entity_id, checked, service.new_id(), caller),
        service.push_limits,
        service.unit_of_work,
    )
    if not isinstance(outcome, NotYourMetrics | TooManyPushes):
        _log_note(request.headers.get(AGENT_NOTE), aa.entity_id, txn_id)
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
        case ReportRefused() | NotYourMetrics() | TooManyPushes() | TxnIdReused():
            return refusal(envelope, outcome)
        case _:
            assert_never(outcome)


def _log_note(note: str | None, aa_id: str, txn_id: str) -> None:
    """Logs the agent's notes about itself: drops, jumps of its clock (quality G3, G8)."""
    if note:
        _log.warning("agent note", aa_id=aa_id, note=note[:MAX_NOTE], txn_id=txn_id)


def _envelope(service: HttpDependencies) -> Envelope:
    return Envelope(new_txn_id(), service.clock())
