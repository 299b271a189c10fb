"""Accepts one pushed report: checks the sender and its rate, stores the content."""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.metrics.payload.held_reports import HeldReports
from mudra.metrics.payload.ingest_rule import (
    Accept,
    IngestStatus,
    Receipt,
    Replace,
    TxnIdReused,
    decide,
    keys_of,
    status_of,
)
from mudra.metrics.payload.plausibility import LONGEST_MS, SMALL, Doubt, doubt_time, doubt_volume
from mudra.metrics.payload.push_limits import PushLimits, TooBusyForPushes, TooManyPushes
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import ContentLimits, ReportRefused, check_size, unknown_fips
from mudra.metrics.ports import Members, Reports
from mudra.shared.finding import Finding
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.storage.database.transaction import OpenTransaction


class NotYourMetrics(Refusal, frozen=True):
    """An AA may report for itself only."""

    kind = RefusalKind.UNAUTHORIZED
    caller: str

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"$.aaId must be {self.caller}, the entity of the token in Authorization"


class Received(Struct, frozen=True):
    """A report that is stored, now or before; `findings` are notes."""

    status: IngestStatus
    receipt: Receipt

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Notes on accepted content."""
        return self.receipt.findings


class Notices(Protocol):
    """Emails to the admins of an entity."""

    async def notify(
        self, entity_id: str, kind: NoticeKind, facts: Mapping[str, str]
    ) -> int | None:
        """Send one to each recipient, in the caller's transaction or right after it."""
        ...


class PushService(Struct, frozen=True):
    """Stores reports in the caller's transaction, under the AA's lock; holds implausible ones."""

    reports: Reports
    held: HeldReports
    notices: Notices
    members: Members
    audit_log: AuditLog
    limits: ContentLimits = ContentLimits()

    async def receive(
        self, checked: StorableReport, receipt_id: str, caller: Caller
    ) -> Received | TxnIdReused | ReportRefused:
        """Stores a valid report, or recognizes it; durable once the transaction has ended."""
        push, window = keys_of(checked)
        now = await self.reports.lock(push.aa_id)
        known = await self.reports.known(push, window)
        unknown = check_size(checked, self.limits) or unknown_fips(
            checked, await self.members.live_fips(), self.limits
        )
        if not isinstance(unknown, ReportRefused):
            checked = replace(checked, notes=checked.notes + unknown)
        doubt = await self._doubt(checked)
        if doubt is not None:
            checked = replace(checked, notes=(doubt.note(), *checked.notes))
        decision = decide(known, checked, receipt_id, now)
        # What was accepted once is still recognized, whatever the limits have become.
        if isinstance(unknown, ReportRefused) and isinstance(decision, Accept | Replace):
            await self.keep_refused(push.aa_id, unknown, caller)
            return unknown
        if isinstance(decision, TxnIdReused):
            await self.audit_log.append(
                AuditEntry(
                    EventName.METRICS_REPORT_REFUSE,
                    caller,
                    push.aa_id,
                    reason="txn-id-reused",
                    outcome=Outcome.REFUSED,
                )
            )
            return decision
        if doubt is not None and isinstance(decision, Accept | Replace):
            await self._hold(decision.receipt, checked, doubt)
        else:
            await self.reports.carry_out(decision, checked)
        received = Received(status_of(decision), decision.receipt)
        await self.audit_log.append(
            AuditEntry(
                EventName.METRICS_REPORT_ACCEPT,
                caller,
                push.aa_id,
                reason=received.status.value,
                detail={
                    "receiptId": received.receipt.receipt_id,
                    "agentVersion": checked.agent_version,
                },
            )
        )
        return received

    async def _hold(self, receipt: Receipt, checked: StorableReport, doubt: Doubt) -> None:
        if await self.held.hold(receipt, checked, doubt):  # one email, however many reports wait
            await self.notices.notify(
                receipt.key.aa_id,
                NoticeKind.REPORT_HELD,
                {
                    "window": checked.window.isoformat(),
                    "claimed": f"{doubt.claimed:,}",
                    "plausible": f"{doubt.limit:,}",
                    "what": doubt.what,
                },
            )

    async def _doubt(self, checked: StorableReport) -> Doubt | None:
        if checked.longest_ms > LONGEST_MS:
            return doubt_time(checked.longest_ms)
        if checked.calls <= SMALL:  # plausible for any AA: most pushes read no history
            return None
        volume = await self.held.volume(checked.aa_id, checked.tag, checked.window)
        return doubt_volume(checked.calls, volume)

    async def keep_refused(self, aa_id: str, refused: ReportRefused, caller: Caller) -> None:
        """Stores the findings of an invalid report, for its sender to look up."""
        await self.reports.keep_refused(aa_id, refused)
        await self.audit_log.append(
            AuditEntry(
                EventName.METRICS_REPORT_REFUSE,
                caller,
                aa_id,
                reason="invalid",
                detail={"findings": refused.total},
                outcome=Outcome.REFUSED,
            )
        )


PushOutcome = (
    Received | NotYourMetrics | TooManyPushes | TooBusyForPushes | ReportRefused | TxnIdReused
)


class Push(Struct, frozen=True):
    """A report, valid or not, as one AA pushed it."""

    aa_id: str
    checked: StorableReport | ReportRefused
    receipt_id: str
    """The ID for the receipt, if one is issued."""
    caller: Caller


async def push_report(
    push: Push, limits: PushLimits, open_transaction: OpenTransaction
) -> PushOutcome:
    """Stores a report that the AA may push, or the findings of an invalid one."""
    checked, tag = push.checked, None
    if isinstance(checked, StorableReport):
        tag = checked.tag
        if checked.aa_id != push.aa_id:
            return NotYourMetrics(push.aa_id)
    too_many = limits.use_rate(push.aa_id, tag)
    if too_many is not None:
        return too_many
    async with limits.at_database(push.aa_id) as busy:
        if busy is not None:
            return busy
        async with open_transaction() as tx:
            if isinstance(checked, ReportRefused):
                await tx.service(PushService).keep_refused(push.aa_id, checked, push.caller)
                return checked
            return await tx.service(PushService).receive(checked, push.receipt_id, push.caller)
