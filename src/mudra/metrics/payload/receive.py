"""Take one push: decide under the AA's lock and store all in one transaction (quality M1)."""

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.metrics.payload.ingest_rule import (
    IngestStatus,
    Receipt,
    TxnIdReused,
    decide,
    keys_of,
    status_of,
)
from mudra.metrics.payload.validation import CheckedReport, ReportRefused, unknown_fips
from mudra.metrics.ports import Members, Reports
from mudra.shared.finding import Finding


class Received(Struct, frozen=True):
    """A push that is stored, or was before; `findings` are notes."""

    status: IngestStatus
    receipt: Receipt

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was odd about the content, though it was taken."""
        return self.receipt.findings


class ReceiveService(Struct, frozen=True):
    """What receiving works with."""

    intake: Reports
    members: Members
    journal: AuditLog


async def receive(
    checked: CheckedReport, receipt_id: str, caller: Caller, desk: ReceiveService
) -> Received | TxnIdReused:
    """Store a checked payload, or recognise it; durable once the transaction has ended."""
    push, window = keys_of(checked)
    now = await desk.intake.lock(push.aa_id)
    known = await desk.intake.known(push, window)
    strange = unknown_fips(checked.report, await desk.members.live_fips())
    checked = replace(checked, notes=checked.notes + strange)
    decision = decide(known, checked, receipt_id, now)
    if isinstance(decision, TxnIdReused):
        await desk.journal.note(
            AuditEntry(
                EventName.METRICS_REPORT_REFUSE,
                caller,
                push.aa_id,
                reason="txn-id-reused",
                outcome=Outcome.REFUSED,
            )
        )
        return decision
    await desk.intake.carry_out(decision, checked)
    received = Received(status_of(decision), decision.receipt)
    await desk.journal.note(
        AuditEntry(
            EventName.METRICS_REPORT_ACCEPT,
            caller,
            push.aa_id,
            reason=received.status.value,
            detail={"receiptId": received.receipt.receipt_id},
        )
    )
    return received


async def keep_refused(
    aa_id: str, refused: ReportRefused, caller: Caller, desk: ReceiveService
) -> None:
    """Remember a payload that breaks a rule, for its sender to look up."""
    await desk.intake.keep_refused(aa_id, refused)
    await desk.journal.note(
        AuditEntry(
            EventName.METRICS_REPORT_REFUSE,
            caller,
            aa_id,
            reason="invalid",
            detail={"findings": refused.total},
            outcome=Outcome.REFUSED,
        )
    )
