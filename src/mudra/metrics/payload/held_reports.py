"""Implausible reports: kept apart until an operator admits or refuses them."""

import enum
from collections.abc import Sequence
from datetime import datetime
from typing import Final, Protocol

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.ingest_rule import Receipt
from mudra.metrics.payload.plausibility import Doubt, ReportedVolume
from mudra.metrics.payload.report_facts import StorableReport
from mudra.shared.refusal import PlainRefusal, RefusalKind

MAX_LISTED: Final = 500


class HeldState(enum.StrEnum):
    """The fate of an implausible report."""

    WAITING = "waiting"
    ADMITTED = "admitted"
    REFUSED = "refused"


class HeldReport(Struct, frozen=True):
    """An implausible report: in no sum and no verdict unless it is admitted."""

    receipt_id: str
    aa_id: str
    tag: Tag
    window: datetime
    received_at: datetime
    doubt: Doubt
    state: HeldState
    decided_by: str
    decided_at: datetime | None


NO_SUCH_HELD_REPORT: Final = PlainRefusal(
    RefusalKind.NOT_FOUND, "no implausible report has this receipt"
)


def held_report_decided(state: HeldState, by: str) -> PlainRefusal:
    """Refuse: somebody has admitted or refused the report before."""
    return PlainRefusal(RefusalKind.CONFLICT, f"the report was {state.value} by {by} before")


HELD_REPORT_REPLACED: Final = PlainRefusal(
    RefusalKind.CONFLICT, "the AA has reported this window again; the later report counts"
)


class HeldReports(Protocol):
    """Implausible reports inside one transaction."""

    async def volume(self, aa_id: str, tag: Tag, window: datetime) -> ReportedVolume:
        """Returns what was reported so far and not held."""
        ...

    async def hold(self, receipt: Receipt, checked: StorableReport, doubt: Doubt) -> bool:
        """Keeps a report with its receipt, apart from what is counted.

        Returns whether no other one of the AA waits.
        """
        ...

    async def latest(
        self, limit: int, state: HeldState | None, aa_id: str | None = None
    ) -> Sequence[HeldReport]:
        """Returns held reports, the latest first; `aa_id` None is for all AAs."""
        ...

    async def find(self, receipt_id: str) -> HeldReport | None:
        """Returns one, locked with its AA until the transaction ends; None without it."""
        ...

    async def is_latest(self, held: HeldReport) -> bool:
        """Returns whether the AA has not reported the window again since."""
        ...

    async def decide(self, held: HeldReport, state: HeldState, by: str) -> HeldReport:
        """Records the decision; an admitted report is counted from now on."""
        ...


Decided = HeldReport | PlainRefusal


class HeldReportService(Struct, frozen=True):
    """Decides about implausible reports in the caller's transaction, with an audit entry."""

    store: HeldReports
    audit_log: AuditLog

    async def list(self, *, all_: bool = False) -> Sequence[HeldReport]:
        """Returns those that wait, or all; the latest first."""
        return await self.store.latest(MAX_LISTED, None if all_ else HeldState.WAITING)

    async def waiting_of(self, aa_id: str) -> Sequence[HeldReport]:
        """Returns an AA's reports that wait, the latest first."""
        return await self.store.latest(MAX_LISTED, HeldState.WAITING, aa_id)

    async def admit(self, receipt_id: str, reason: str, caller: Caller) -> Decided:
        """Counts a report like any other, also in verdicts about its time."""
        return await self._decide(receipt_id, HeldState.ADMITTED, reason, caller)

    async def refuse(self, receipt_id: str, reason: str, caller: Caller) -> Decided:
        """Leaves a report out for good; it stays kept."""
        return await self._decide(receipt_id, HeldState.REFUSED, reason, caller)

    async def _decide(
        self, receipt_id: str, state: HeldState, reason: str, caller: Caller
    ) -> Decided:
        held = await self.store.find(receipt_id)
        if held is None:
            return NO_SUCH_HELD_REPORT
        if held.state is not HeldState.WAITING:
            return held_report_decided(held.state, held.decided_by)
        if state is HeldState.ADMITTED and not await self.store.is_latest(held):
            return HELD_REPORT_REPLACED
        decided = await self.store.decide(held, state, caller.actor)
        event = {
            HeldState.ADMITTED: EventName.METRICS_HELD_REPORT_ADMIT,
            HeldState.REFUSED: EventName.METRICS_HELD_REPORT_REFUSE,
        }[state]
        detail = {"receiptId": receipt_id, "window": held.window.isoformat()}
        await self.audit_log.append(
            AuditEntry(event, caller, held.aa_id, reason=reason, detail=detail)
        )
        return decided
