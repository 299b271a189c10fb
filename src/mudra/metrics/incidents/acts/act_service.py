"""Acts on incidents: who owns one, what is said of it, closing and reopening it by hand."""

from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.incidents.acts.act import (
    Act,
    ActCommand,
    ActKind,
    CommandRefused,
    decision_after,
    names_owner,
    refusal_of,
)
from mudra.metrics.incidents.acts.act_ports import IncidentActs
from mudra.metrics.incidents.acts.similar import Similar, similar_to
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.incident_service import NoSuchIncident
from mudra.shared.refusal import ValueRefused

EVENTS: Final = {
    ActKind.ASSIGN: EventName.METRICS_INCIDENT_ACKNOWLEDGE,
    ActKind.HAND_OVER: EventName.METRICS_INCIDENT_HAND_OVER,
    ActKind.COMMENT: EventName.METRICS_INCIDENT_COMMENT,
    ActKind.CLOSE: EventName.METRICS_INCIDENT_CLOSE,
    ActKind.REOPEN: EventName.METRICS_INCIDENT_REOPEN,
    ActKind.POST_MORTEM: EventName.METRICS_INCIDENT_REVIEW,
}
_OPERATOR: Final = "operator:"

ActResult = StoredIncident | NoSuchIncident | CommandRefused


class Assigned(Struct, frozen=True):
    """Result of assigning many: the incidents with their new owner, and those left as they are."""

    assigned: Sequence[StoredIncident]
    left: Sequence[str]
    """IDs of incidents that are over, have another owner, or do not exist."""


class IncidentActService(Struct, frozen=True):
    """Carries out acts in the caller's transaction, each with its audit entry."""

    store: IncidentActs
    audit_log: AuditLog

    async def of(self, incident_id: str) -> Sequence[Act]:
        """Returns the acts on an incident, the oldest first."""
        return await self.store.of(incident_id)

    async def similar(
        self, stored: StoredIncident, others: Sequence[StoredIncident]
    ) -> Sequence[Similar]:
        """Returns other incidents that are like one, with what was written about them."""
        found = similar_to(stored, others, {})
        notes = await self.store.notes([one.stored.incident_id for one in found]) if found else {}
        return similar_to(stored, [one.stored for one in found], notes)

    async def owners(self) -> Sequence[str]:
        """Returns the addresses of those who may own incidents."""
        return await self.store.owners()

    async def acknowledge(
        self, incident_id: str, caller: Caller, *, instead_of: str | None = None
    ) -> ActResult:
        """Assigns an incident to the caller; `instead_of` as in a command."""
        name = caller.actor.removeprefix(_OPERATOR)
        command = ActCommand(ActKind.ASSIGN, owner=name, instead_of=instead_of)
        return await self.act(incident_id, command, caller)

    async def assign_many(
        self, incident_ids: Collection[str], owner: str, caller: Caller
    ) -> Assigned | ValueRefused:
        """Assigns open incidents without owner, each with its own act and audit entry.

        Never replaces an owner: a list may be older than the owner. In the order of their IDs, so
        that two such acts never wait for each other.
        """
        name = f"{_OPERATOR}{owner.strip()}"
        refusal = await self._owner_refused(name, caller)
        if refusal is not None:
            return refusal
        assigned, left = [], []
        command = ActCommand(ActKind.ASSIGN, owner=owner, instead_of="")
        for incident_id in sorted(set(incident_ids)):
            stored = await self.store.lock(incident_id)
            if stored is None or not stored.is_open or stored.acknowledged_by == name:
                left.append(incident_id)
                continue
            outcome = await self.act(incident_id, command, caller)
            if isinstance(outcome, StoredIncident):
                assigned.append(outcome)
            else:
                left.append(incident_id)
        return Assigned(assigned, left)

    async def act(self, incident_id: str, command: ActCommand, caller: Caller) -> ActResult:
        """Carries out one act; one that changes nothing is left out of the history."""
        stored = await self.store.lock(incident_id)
        if stored is None:
            return NoSuchIncident()
        owner = f"{_OPERATOR}{command.owner.strip()}" if command.owner.strip() else ""
        if command.kind is ActKind.ASSIGN and owner == (stored.acknowledged_by or ""):
            return stored
        refusal = refusal_of(stored, command, len(await self.store.of(incident_id)))
        if refusal is None and names_owner(command.kind):
            refusal = await self._owner_refused(owner, caller)
        if refusal is not None:
            return refusal
        act = Act(await self.store.now(), caller.actor, command.kind, command.text.strip())
        after = _after(stored, act)
        if names_owner(act.kind):
            act = replace(act, owner=owner)
            after = replace(after, acknowledged_by=owner or None, acknowledged_at=act.at)
        elif after.acknowledged_by != stored.acknowledged_by:
            act = replace(act, owner=act.actor)
        await self.store.add(stored, after, act)
        reason = act.text if act.kind in {ActKind.CLOSE, ActKind.REOPEN} else ""
        detail = {"owner": act.owner_name} if names_owner(act.kind) or act.owner else {}
        await self.audit_log.append(
            AuditEntry(EVENTS[act.kind], caller, incident_id, reason=reason, detail=detail)
        )
        return after

    async def _owner_refused(self, owner: str, caller: Caller) -> ValueRefused | None:
        known = {"", caller.actor, *(f"{_OPERATOR}{one}" for one in await self.store.owners())}
        if owner in known:
            return None
        return ValueRefused("owner", "must be the address of an operator with the scope health")


def _after(stored: StoredIncident, act: Act) -> StoredIncident:
    """Returns the incident after an act; one who closes it without owner becomes its owner."""
    decision = decision_after(stored, act.kind)
    if act.kind not in {ActKind.CLOSE, ActKind.REOPEN}:
        return stored
    after = replace(stored, decision=decision, decided_at=act.at)
    if act.kind is ActKind.CLOSE and stored.acknowledged_by is None:
        return replace(after, acknowledged_by=act.actor, acknowledged_at=act.at)
    return after
