"""POST {prefix}/push (spec 4.5, decisions 5): an AA's agent reports ten minutes."""

from collections.abc import Sequence
from typing import Final

import msgspec
import structlog
from litestar import Response, post
from litestar.handlers import HTTPRouteHandler

from mudra.http.auth.bearer import calling_entity
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.health.metrics_responses import PushResponse
from mudra.http.health.push_gate import PushGate
from mudra.http.openapi.operation import described
from mudra.http.request.envelope import Envelope, new_txn_id
from mudra.http.request.request_body import METRICS_LIMITS, read_typed_body
from mudra.http.request.request_context import AnyRequest, RequestContext
from mudra.http.response.json_response import JsonResponse, refusal, success
from mudra.metrics.payload.receive import Received, keep_refused, receive
from mudra.metrics.payload.refusals import NotYourMetrics, TooManyPushes
from mudra.metrics.payload.report import Report
from mudra.metrics.payload.validation import CheckedReport, ReportRefused, check_report
from mudra.shared.entity_type import EntityType
from mudra.shared.refusal import Refusal
from mudra.tokens.authentication.bearer import EntityCaller

AGENT_NOTE: Final = "mudra-agent-note"
MAX_NOTE: Final = 300
_log = structlog.get_logger()


def push_route(prefixes: Sequence[str], gate: PushGate) -> HTTPRouteHandler:
    """Make the handler at every address where agents push."""

    @post(
        [f"{prefix}/push" for prefix in prefixes],
        status_code=200,
        operation_class=described("Push metrics", Report, PushResponse, bearer=True, conflict=True),
    )
    async def push(request: AnyRequest, service: InjectedDependencies) -> Response[bytes]:
        """Take a payload; the answer comes once it is durable."""
        busy = gate.admit()
        if busy is not None:
            return refusal(_envelope(service), busy).response()
        try:
            return (await _answer(request, service, gate)).response()
        finally:
            gate.leave()

    return push


async def _answer(request: AnyRequest, service: HttpDependencies, gate: PushGate) -> JsonResponse:
    aa = await calling_entity(request, service, EntityType.AA)
    if isinstance(aa, Refusal):
        return refusal(_envelope(service), aa)
    body = await read_typed_body(request.receive, request.scope["headers"], METRICS_LIMITS)
    if not isinstance(body, bytes):
        return refusal(_envelope(service), body)
    checked = check_report(body, service.clock())
    del body
    txn_id = checked.report.txn_id if isinstance(checked, CheckedReport) else new_txn_id()
    tag = checked.tag.value if isinstance(checked, CheckedReport) else "refused"
    context = RequestContext(service, request, txn_id)
    if isinstance(checked, CheckedReport) and checked.report.aa_id != aa.entity_id:
        return refusal(context.envelope, NotYourMetrics(aa.entity_id))
    wait_s = service.push_rate.wait_s(f"{aa.entity_id}\0{tag}")
    if wait_s:
        return refusal(context.envelope, TooManyPushes(wait_s))
    _tell_note(request.headers.get(AGENT_NOTE), aa.entity_id, txn_id)
    async with gate.at_database():
        outcome = await _stored(checked, aa, context)
    if isinstance(outcome, Received):
        return _taken(context.envelope, outcome)
    return refusal(context.envelope, outcome)


def _tell_note(note: str | None, aa_id: str, txn_id: str) -> None:
    """Log what the agent says beside the payload: drops, jumps of its clock (quality G3, G8)."""
    if note:
        _log.warning("agent note", aa_id=aa_id, note=note[:MAX_NOTE], txn_id=txn_id)


async def _stored(
    checked: CheckedReport | ReportRefused, aa: EntityCaller, context: RequestContext
) -> Received | Refusal:
    service = context.service
    caller = context.caller(f"entity:{aa.entity_id}")
    async with service.unit_of_work() as work:
        if isinstance(checked, ReportRefused):
            await keep_refused(aa.entity_id, checked, caller, work.receive_service)
            return checked
        return await receive(checked, service.new_id(), caller, work.receive_service)


def _taken(envelope: Envelope, received: Received) -> JsonResponse:
    return success(
        envelope,
        {
            "status": received.status.value,
            "receiptId": received.receipt.receipt_id,
            "findings": msgspec.to_builtins(received.findings),
        },
    )


def _envelope(service: HttpDependencies) -> Envelope:
    return Envelope(new_txn_id(), service.clock())
