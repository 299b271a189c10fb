"""Switch faults of the sandbox on and off: an entity's admin its own, an operator any."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.demo.faults.fault import (
    KEYS_A_DAY,
    LONGEST,
    TOO_MANY_FAULT_KEYS,
    Fault,
    FaultKind,
    FaultRefused,
    WantedFault,
    amount_of,
    conflict_with,
    operators_fault,
)
from mudra.demo.faults.fault_board import FaultRows
from mudra.identity.memberships.member import NotYourEntity
from mudra.shared.refusal import PlainRefusal
from mudra.tokens.claims import TokenKind
from mudra.tokens.ports import NewKey

_DAY: Final = timedelta(days=1)
Switched = Fault | NotYourEntity | FaultRefused | PlainRefusal


class FaultActor(Struct, frozen=True):
    """The actor: the entities that they administer, and whether they are an operator."""

    caller: Caller
    administers: Sequence[str]
    is_operator: bool

    def may(self, entity_id: str) -> bool:
        """Return whether faults of an entity are theirs to see and switch."""
        return self.is_operator or entity_id in self.administers


class FaultService(Struct, frozen=True):
    """The acts on faults, in the caller's transaction."""

    faults: FaultRows
    audit_log: AuditLog
    new_key: NewKey
    new_id: Callable[[], str]

    async def list(self, actor: FaultActor, entity_id: str = "") -> Sequence[Fault] | NotYourEntity:
        """List the faults in force that the actor may see, of one entity if it is named."""
        if entity_id and not actor.may(entity_id):
            return NotYourEntity()
        if entity_id:
            return await self.faults.active([entity_id])
        return await self.faults.active(None if actor.is_operator else actor.administers)

    async def switch_on(self, wanted: WantedFault, actor: FaultActor) -> Switched:
        """Switch a fault on, or on again with another amount and end."""
        if not actor.may(wanted.entity_id):
            return NotYourEntity()
        if not timedelta(seconds=1) <= wanted.lasts <= LONGEST:
            return FaultRefused("lasts must be a duration from PT1S to P7D")
        seconds = amount_of(wanted.kind, wanted.seconds)
        if isinstance(seconds, FaultRefused):
            return seconds
        # Made before the lock: it takes up to a second.
        key = await self.new_key(TokenKind.ENTITY) if wanted.kind.has_key else None
        if not await self.faults.lock(wanted.entity_id):
            return FaultRefused(f"entityId: no member has the ID {wanted.entity_id}")
        now = await self.faults.now()
        active = await self.faults.active([wanted.entity_id])
        refused = await self._refused(wanted, active, actor)
        if refused is not None:
            return refused
        fault = Fault(
            fault_id=self.new_id(),
            entity_id=wanted.entity_id,
            kind=wanted.kind,
            seconds=seconds,
            starts_at=now,
            ends_at=now + wanted.lasts,
            set_by=actor.caller.actor,
            by_operator=actor.is_operator,
            kid=key.kid if key else "",
        )
        for previous in active:
            if previous.kind is wanted.kind:
                await self.faults.end(previous, now)
        await self.faults.keep(fault, key)
        await self._record(EventName.SANDBOX_FAULT_ON, fault, actor)
        return fault

    async def switch_off(
        self, entity_id: str, kind: FaultKind | None, actor: FaultActor
    ) -> Sequence[Fault] | NotYourEntity | PlainRefusal | FaultRefused:
        """End the fault of a kind, or all of an entity; returns those that were ended."""
        if not actor.may(entity_id):
            return NotYourEntity()
        if not await self.faults.lock(entity_id):
            return FaultRefused(f"entityId: no member has the ID {entity_id}")
        now = await self.faults.now()
        ending = [one for one in await self.faults.active([entity_id]) if kind in {None, one.kind}]
        if not actor.is_operator:
            foreign = next((one for one in ending if one.by_operator), None)
            if foreign is not None:
                return operators_fault(foreign.kind)
        for one in ending:
            await self.faults.end(one, now)
            await self._record(EventName.SANDBOX_FAULT_OFF, one, actor)
        return ending

    async def _refused(
        self, wanted: WantedFault, active: Sequence[Fault], actor: FaultActor
    ) -> PlainRefusal | None:
        same = next((one for one in active if one.kind is wanted.kind), None)
        if same is not None and same.by_operator and not actor.is_operator:
            return operators_fault(same.kind)
        conflict = conflict_with(wanted.kind, active)
        if conflict is not None or not wanted.kind.has_key:
            return conflict
        since = await self.faults.now() - _DAY
        made = await self.faults.keys_since(wanted.entity_id, since)
        return TOO_MANY_FAULT_KEYS if made >= KEYS_A_DAY else None

    async def _record(self, event: EventName, fault: Fault, actor: FaultActor) -> None:
        detail = {
            "kind": fault.kind.value,
            "seconds": fault.seconds,
            "ends_at": fault.ends_at.isoformat(),
        }
        await self.audit_log.append(
            AuditEntry(event, actor.caller, entity_id=fault.entity_id, detail=detail)
        )
