"""The use cases of payloads: submit, update, check, review a draft, retire.

Each of these is one use case in its caller's transaction. A write counts against the
requester's budget, refused or not.
"""

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.registry.lifecycle.actor import Actor, may_submit
from mudra.registry.lifecycle.acts.draft_review import DraftReview, review_draft
from mudra.registry.lifecycle.acts.register import Command, decide, submit_entry, update_entry
from mudra.registry.lifecycle.acts.submission import Repeat
from mudra.registry.lifecycle.acts.write_budget_store import WriteBudget
from mudra.registry.lifecycle.decision import Decision, RegistryAction, withdrawal_note
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.refusal import NeedsOperator, RegistryRefusal
from mudra.registry.payload.extend_vocabulary import read_vocabulary
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.refusals import PayloadNotChecked, PayloadRefused, too_many_writes
from mudra.registry.payload.validation import CheckedPayload
from mudra.registry.payload.vocabulary import Vocabulary
from mudra.registry.payload.vocabulary_store import VocabularyStore
from mudra.registry.ports import Address, CheckSubmission, Registry
from mudra.shared.entity_type import EntityType
from mudra.shared.finding import Finding
from mudra.shared.refusal import PlainRefusal


class Receipt(Struct, frozen=True):
    """The result of a write: the version, its status, and the notes for the sender."""

    txnid: str
    status: str
    version: int
    notes: Sequence[Finding] = ()


class ReviewedDraft(Struct, frozen=True):
    """A draft with the entity's record and the words that it may use."""

    record: Record | None
    vocabulary: Vocabulary
    review: DraftReview


Registered: TypeAlias = (
    Receipt | PlainRefusal | PayloadRefused | PayloadNotChecked | RegistryRefusal
)


class RegistrationService(Struct, frozen=True):
    """The use cases of registration, in one transaction."""

    registry: Registry
    vocabulary: VocabularyStore
    budget: WriteBudget
    policy: AddressPolicy
    check: CheckSubmission

    async def submit(self, payload: object, entity_type: str, actor: Actor) -> Registered:
        """Take the first payload of an entity; it is pending until an operator approves it."""
        return await self._write(payload, entity_type, None, actor, is_first=True)

    async def update(
        self, payload: object, entity_type: str, entity_id: str | None, actor: Actor
    ) -> Registered:
        """Take an update: live at once, or pending when it touches what needs approval.

        `entity_id` is None where the address names none: then the payload does.
        """
        return await self._write(payload, entity_type, entity_id, actor, is_first=False)

    async def retire(
        self, entity_type: EntityType, entity_id: str, reason: str, actor: Actor
    ) -> Decision | PlainRefusal | RegistryRefusal:
        """End an entry for good, in the name of the entity's admin or of an operator."""
        wait_s = await self.budget.wait_s(actor.name)
        if wait_s:
            return too_many_writes(wait_s)
        action = RegistryAction.RETIRE
        command = Command(action, entity_id, actor, reason, entity_type=entity_type)
        return await decide(self.registry, command)

    async def lint(
        self, payload: object, entity_type: EntityType, actor: Actor
    ) -> Sequence[Finding] | PlainRefusal | NeedsOperator | PayloadNotChecked:
        """Return what a submission of the payload would find; stores nothing."""
        vocabulary = await read_vocabulary(self.vocabulary)
        checked = await self._checked(payload, Address(entity_type, None), vocabulary, actor)
        if not isinstance(checked, CheckedPayload):
            return checked
        return may_submit(actor, checked.entry) or checked.notes

    async def review(
        self, payload: object, entity_type: str, entity_id: str, actor: Actor
    ) -> ReviewedDraft:
        """Check a draft of the entity's next version; `payload` is a finding if it is no JSON."""
        record = await self.registry.record(entity_id)
        vocabulary = await read_vocabulary(self.vocabulary)
        address = Address(entity_type, entity_id)
        checked = await self._check_draft(payload, address, vocabulary, actor)
        return ReviewedDraft(record, vocabulary, review_draft(record, checked))

    async def submit_draft(self, draft: DraftReview, actor: Actor) -> Registered:
        """Submit or update what was reviewed in this transaction."""
        wait_s = await self.budget.wait_s(actor.name)
        if wait_s:
            return too_many_writes(wait_s)
        if draft.checked is None:
            return PayloadRefused(tuple(draft.findings))
        return await self._store(draft.checked, actor, is_first=draft.is_first)

    async def _write(
        self,
        payload: object,
        entity_type: str,
        entity_id: str | None,
        actor: Actor,
        *,
        is_first: bool,
    ) -> Registered:
        wait_s = await self.budget.wait_s(actor.name)
        if wait_s:
            return too_many_writes(wait_s)
        vocabulary = await read_vocabulary(self.vocabulary)
        address = Address(entity_type, entity_id)
        checked = await self._checked(payload, address, vocabulary, actor)
        if isinstance(checked, PayloadNotChecked):
            return checked
        if not isinstance(checked, CheckedPayload):
            return PayloadRefused(tuple(checked))
        return await self._store(checked, actor, is_first=is_first)

    async def _check_draft(
        self, payload: object, address: Address, vocabulary: Vocabulary, actor: Actor
    ) -> CheckedPayload | list[Finding]:
        if isinstance(payload, Finding):
            return [payload]
        checked = await self._checked(payload, address, vocabulary, actor)
        if isinstance(checked, PayloadNotChecked):
            problem = translatable("could not be checked now")
            return [Finding("$", problem, translatable("try again"))]
        if isinstance(checked, CheckedPayload) and may_submit(actor, checked.entry) is not None:
            problem = translatable("is another entity's")
            # All but the requester is compared with the address above.
            return [Finding("$.requester.id", problem, address.entity_id or "")]
        return checked

    async def _checked(
        self, payload: object, address: Address, vocabulary: Vocabulary, actor: Actor
    ) -> CheckedPayload | list[Finding] | PayloadNotChecked:
        caller = actor.person or actor.name
        return await self.check(payload, self.policy, vocabulary, address, caller)

    async def _store(self, checked: CheckedPayload, actor: Actor, *, is_first: bool) -> Registered:
        write = submit_entry if is_first else update_entry
        outcome = await write(self.registry, checked, actor)
        if isinstance(outcome, Decision | Repeat):
            txnid, notes = checked.entry.txnid, [*checked.notes]
            if isinstance(outcome, Decision) and outcome.withdrawn is not None:
                notes.append(withdrawal_note(outcome.withdrawn))
            return Receipt(txnid, outcome.status, outcome.version, notes)
        return outcome
