"""Raising, answering and deciding disputes: each step is audited, emailed and sent to webhooks."""

import hashlib
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.disputes.correction_store import add_corrections, corrections_of, void_corrections
from mudra.disputes.dispute import MEMBER_ACTS, Act, Case, Dispute, Kind, Side, Step
from mudra.disputes.dispute_message import body_of, event_of, facts_of
from mudra.disputes.dispute_store import Disputes
from mudra.disputes.evidence import (
    DAY,
    MAX_FILES,
    MAX_FILES_A_DAY,
    TOO_MANY_FILES,
    TOO_MANY_FILES_TODAY,
    Evidence,
    new_evidence,
)
from mudra.disputes.raise_rule import COUNTED, Identity, RaiseCommand, contested, raised
from mudra.disputes.step_rule import ACCEPTING, StepCommand, after_step, corrections_by
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.metrics.incidents.explanation import may_see
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.incident_service import IncidentService, NoSuchIncident
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox

MAX_LISTED: Final = 500
_EVENTS: Final = {
    Act.RAISE: EventName.DISPUTE_CASE_RAISE,
    Act.COMMENT: EventName.DISPUTE_CASE_RAISE,
    Act.INFORM: EventName.DISPUTE_CASE_INFORM,
    Act.ATTACH: EventName.DISPUTE_EVIDENCE_ADD,
    Act.WITHDRAW: EventName.DISPUTE_CASE_WITHDRAW,
    Act.REVIEW: EventName.DISPUTE_CASE_REVIEW,
    Act.ASK: EventName.DISPUTE_CASE_ASK,
    Act.ANSWER: EventName.DISPUTE_CASE_ANSWER,
    Act.ACCEPT: EventName.DISPUTE_CASE_DECIDE,
    Act.ACCEPT_PARTLY: EventName.DISPUTE_CASE_DECIDE,
    Act.REJECT: EventName.DISPUTE_CASE_DECIDE,
    Act.REOPEN: EventName.DISPUTE_CASE_REOPEN,
    Act.LAPSE: EventName.DISPUTE_CASE_LAPSE,
    Act.OVERDUE: EventName.DISPUTE_CASE_DELAY,
}
_SERVICE: Final = Caller("system")


class NoSuchDispute(Refusal, frozen=True):
    """No dispute has this ID, or it is another member's."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no dispute of this ID"


class NoSuchEvidence(Refusal, frozen=True):
    """The dispute has no file of this ID."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no file of this ID at this dispute"


class DisputeService(Struct, frozen=True):
    """Raises, answers and decides disputes in the caller's transaction.

    `of` limits a call to the disputes of one member; None is for operators.
    """

    tx: Transaction
    messages: Webhooks
    new_id: Callable[[], str]

    async def list(
        self, *, of: str = "", incident_id: str = "", only_open: bool = False
    ) -> Sequence[Dispute]:
        """Return the newest ones, of one member or about one incident, or all."""
        return await Disputes(self.tx).newest(
            MAX_LISTED, entity_id=of, incident_id=incident_id, only_open=only_open
        )

    async def find(self, dispute_id: str) -> Dispute | NoSuchDispute:
        """Return one; the caller checks whose it is."""
        return await Disputes(self.tx).find(dispute_id) or NoSuchDispute()

    async def case(self, dispute: Dispute) -> Case:
        """Return a dispute with its steps, its files and its corrections."""
        store, which = Disputes(self.tx), dispute.dispute_id
        return Case(
            dispute,
            await store.steps(which),
            await store.evidence(which),
            await corrections_of(self.tx, which),
        )

    async def begin(
        self, entity_id: str, command: RaiseCommand, caller: Caller, now: datetime
    ) -> Dispute | Refusal:
        """Raise a dispute, or publish a comment, of a member."""
        store = Disputes(self.tx)
        incident = await self._incident(entity_id, command)
        if isinstance(incident, Refusal):
            return incident
        what = contested(command, incident, now)
        if isinstance(what, Refusal):
            return what
        await self.tx.lock_name(f"disputes:{entity_id}")
        recent = await store.recent(entity_id, now - COUNTED)
        who = Identity(self.new_id(), entity_id, caller.actor)
        made = raised(command, what, who, recent, now)
        if isinstance(made, Refusal):
            return made
        await store.add(made)
        act = Act.RAISE if made.kind is Kind.DISPUTE else Act.COMMENT
        await self._record(made, act, command.text, caller, now)
        return made

    async def _incident(
        self, entity_id: str, command: RaiseCommand
    ) -> Incident | NoSuchIncident | None:
        if command.incident_id is None:
            return None
        stored = await self.tx.service(IncidentService).find(command.incident_id)
        if isinstance(stored, NoSuchIncident):
            return stored
        of_fips = await Memberships(self.tx).is_fiu(entity_id)
        sees = may_see(stored.incident, entity_id, of_fips=of_fips)
        return stored.incident if sees else NoSuchIncident()

    async def step(
        self, dispute_id: str, command: StepCommand, caller: Caller, now: datetime, *, of: str = ""
    ) -> Dispute | Refusal:
        """Take a step; `of` is the member that takes it, empty for an operator."""
        before = await self._locked(dispute_id, of)
        if isinstance(before, NoSuchDispute):
            return before
        allowed = (command.act in MEMBER_ACTS) is bool(of)
        assert allowed, "an edge reads only the acts of its side"
        return await self._taken(before, command, caller, now)

    async def _taken(
        self, before: Dispute, command: StepCommand, caller: Caller, now: datetime
    ) -> Dispute | Refusal:
        store = Disputes(self.tx)
        steps = len(await store.steps(before.dispute_id))
        after = after_step(before, command, steps, now)
        if isinstance(after, Refusal):
            return after
        if command.act in ACCEPTING:
            made = corrections_by(before, command, self.new_id, now)
            if isinstance(made, Refusal):
                return made
            await add_corrections(self.tx, before.dispute_id, caller.actor, made)
        if command.act is Act.REOPEN:
            await void_corrections(self.tx, before.dispute_id, now)
        await store.put(after)
        await self._record(after, command.act, command.text.strip(), caller, now, steps + 1)
        return after

    async def attach(
        self, dispute_id: str, name: str, content: bytes, caller: Caller, now: datetime, *, of: str
    ) -> Evidence | Refusal:
        """Attach a file to a dispute of a member; the same content twice is one file."""
        store = Disputes(self.tx)
        before = await self._locked(dispute_id, of)
        if isinstance(before, NoSuchDispute):
            return before
        added = new_evidence(name, content, self.new_id(), caller.actor, now)
        if isinstance(added, Refusal):
            return added
        files = await store.evidence(dispute_id)
        same = next((one for one in files if one.sha256 == added.sha256), None)
        if same is not None:
            return same
        if len(files) >= MAX_FILES:
            return TOO_MANY_FILES
        await self.tx.lock_name(f"disputes:{of}")
        if await store.files_since(of, now - DAY) >= MAX_FILES_A_DAY:
            return TOO_MANY_FILES_TODAY
        steps = len(await store.steps(dispute_id))
        after = after_step(before, StepCommand(Act.ATTACH), steps, now)
        if isinstance(after, Refusal):
            return after
        await store.add_evidence(dispute_id, added, content)
        await self._record(after, Act.ATTACH, added.name, caller, now, steps + 1)
        return added

    async def read(
        self, dispute: Dispute, evidence_id: str, caller: Caller
    ) -> tuple[Evidence, bytes] | NoSuchEvidence:
        """Return a file with its content, and record who read it."""
        store = Disputes(self.tx)
        files = await store.evidence(dispute.dispute_id)
        found = next((one for one in files if one.evidence_id == evidence_id), None)
        content = await store.content(dispute.dispute_id, evidence_id) if found else None
        if found is None or content is None:
            return NoSuchEvidence()
        detail = {"disputeId": dispute.dispute_id, "evidenceId": evidence_id}
        await AuditLog(self.tx).append(
            AuditEntry(EventName.DISPUTE_EVIDENCE_READ, caller, dispute.entity_id, detail=detail)
        )
        return found, content

    async def late(self, now: datetime, limit: int) -> Sequence[str]:
        """Return the IDs of disputes with a deadline that has passed and was not acted on yet."""
        return await Disputes(self.tx).late(now, limit)

    async def pass_deadline(self, dispute_id: str, now: datetime) -> Dispute | Refusal:
        """End a dispute whose member did not answer; notify both sides of a late operator.

        Once for a deadline: of several nodes that found it late, those that waited change nothing.
        """
        before = await self._locked(dispute_id, "")
        if isinstance(before, NoSuchDispute):
            return before
        steps = await Disputes(self.tx).steps(dispute_id)
        if not before.is_overdue(now) or before.is_noted_late(steps):
            return before
        act = Act.LAPSE if before.waits_for is Side.MEMBER else Act.OVERDUE
        return await self._taken(before, StepCommand(act), _SERVICE, now)

    async def _locked(self, dispute_id: str, of: str) -> Dispute | NoSuchDispute:
        found = await Disputes(self.tx).find(dispute_id, lock=True)
        return found if found and of in {"", found.entity_id} else NoSuchDispute()

    async def _record(
        self, after: Dispute, act: Act, text: str, caller: Caller, now: datetime, number: int = 1
    ) -> None:
        """Store a step, and send it to all whom it concerns."""
        step = Step(number, now, caller.actor, act, after.state, text.strip())
        await Disputes(self.tx).add_step(after.dispute_id, step)
        await self._audit(after, step, caller)
        await self._email(after, step)
        await self.messages.post([after.entity_id], body_of(after, step), now, event=event_of(step))

    async def _audit(self, after: Dispute, step: Step, caller: Caller) -> None:
        detail = {
            "disputeId": after.dispute_id,
            "kind": after.kind.value,
            "about": after.about.value,
            "begins": after.start.isoformat(),
            "ends": after.end.isoformat(),
            "apis": ", ".join(after.apis),
            "act": step.act.value,
            "state": after.state.value,
            # Proves the text, which may name customers, without a copy of it.
            "textSha256": hashlib.sha256(step.text.encode()).hexdigest(),
        }
        if after.incident_id:
            detail["incidentId"] = after.incident_id
        entry = AuditEntry(_EVENTS[step.act], caller, after.entity_id, detail=detail)
        await AuditLog(self.tx).append(entry)

    async def _email(self, after: Dispute, step: Step) -> None:
        """Email the member of each step, and the operators of those that they have to act on."""
        page = f"entity/{after.entity_id}/disputes/{after.dispute_id}"
        facts = facts_of(after, step)
        await self.tx.service(NoticeService).notify(
            after.entity_id, NoticeKind.DISPUTE_STEP, {**facts, "page": page}
        )
        if step.by is Side.OPERATOR:
            return
        outbox, about = self.tx.service(Outbox), f"operator/disputes/{after.dispute_id}"
        entity_name = await Memberships(self.tx).entity_name(after.entity_id)
        for email, name in await Disputes(self.tx).operators():
            whom = {"user_name": name, "entity_id": after.entity_id, "entity_name": entity_name}
            notice = Notice(email, NoticeKind.DISPUTE_STEP, {**whom, **facts, "page": about})
            await outbox.post(notice)
