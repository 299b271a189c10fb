"""The registry's writes in PostgreSQL: implements registry/ports.py `Registry`.

One advisory lock serves all writers: the log has no gaps, and uniqueness over
the registry is decided while no one else can take the same value.
"""

import datetime as dt
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.user import UserState
from mudra.identity.memberships.entity_status_store import (
    entity_accepts,
    lock_registry,
    status_of_entry,
    store_status,
)
from mudra.identity.memberships.member import MemberStatus, effective_status
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.actor import Actor, ActorKind
from mudra.registry.lifecycle.decision import Decision, Facts, RegistryAction, TokenEffect
from mudra.registry.lifecycle.grants import Grant
from mudra.registry.lifecycle.holder_store import read_facts, read_grants
from mudra.registry.lifecycle.member_notice import member_notice
from mudra.registry.lifecycle.record import Record
from mudra.registry.lifecycle.record_store import read_history, read_record, version_row
from mudra.registry.lifecycle.refusal import AlreadyHeld, RegistryRefusal
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.registry.payload.fields.timestamp import wire_time
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus, VersionStatus
from mudra.shared.mail.notice import NoticeKind
from mudra.storage.caching.cache_invalidation import entity_key
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity, entity_admin, operator_scope, user_account
from mudra.storage.tables.registry import registry_change, registry_entity, registry_version
from mudra.storage.tables.service import service_fact

if TYPE_CHECKING:  # a use case, which makes stores itself
    from mudra.identity.memberships.notices import NoticeService

_U: Final = user_account.c
_PERSON: Final = sa.select(_U.user_id).where(_U.user_id == sa.bindparam("user_id"))
_DECIDES: Final = _PERSON.where(_U.state == UserState.ACTIVE.value).join(
    operator_scope,
    sa.and_(operator_scope.c.user_id == _U.user_id, operator_scope.c.scope == Scope.REGISTRY.value),
)
_ADMINISTERS: Final = _PERSON.where(_U.state != UserState.DISABLED.value).join(
    entity_admin,
    sa.and_(
        entity_admin.c.user_id == _U.user_id,
        entity_admin.c.entity_id == sa.bindparam("entity_id"),
    ),
)


async def has_right_now(transaction: Transaction, actor: Actor, entity_id: str) -> bool:
    """Return whether a person has the right by which they came, and an entity's token counts."""
    if actor.kind is ActorKind.ENTITY:
        return await _accepts_token(transaction, actor)
    if not actor.person:
        return True  # a command on the service's machine, or what was scheduled
    asked = {"user_id": actor.person.removeprefix("user:")}
    if actor.kind is ActorKind.OPERATOR:
        found = await transaction.connection.scalar(_DECIDES, asked)
    elif entity_id in actor.own:
        asked["entity_id"] = entity_id
        found = await transaction.connection.scalar(_ADMINISTERS, asked)
    else:
        return True  # they never had it, and the decision refuses them
    return found is not None


async def _accepts_token(transaction: Transaction, actor: Actor) -> bool:
    """Ask about the entity itself, whatever it writes about: the decision asks the latter."""
    (entity_id,), issued_at = actor.own, actor.token_issued_at
    return issued_at is not None and await entity_accepts(transaction, entity_id, issued_at)


REGISTRY_CHANGED: Final = "registry"
"""The name under which a change of the log is announced."""
_E: Final = registry_entity.c
_V: Final = registry_version.c
_C: Final = registry_change.c
_LIVE_COUNT: Final = (
    sa.select(sa.func.count())
    .select_from(registry_entity)
    .where(_E.status == EntityStatus.LIVE.value)
)
_DUE: Final = (
    sa.select(_V.entity_id)
    .where(_V.status == VersionStatus.APPROVED.value, _V.goes_live_at <= sa.bindparam("now"))
    .order_by(_V.goes_live_at, _V.entity_id)
)
_LAST: Final = sa.select(_C.sequence, _C.at).order_by(_C.sequence.desc()).limit(1)
_PUBLISH: Final = sa.insert(registry_change)
_NEW_ENTITY: Final = insert(registry_entity)
_KEEP_ENTITY: Final = _NEW_ENTITY.on_conflict_do_update(
    index_elements=["entity_id"],
    set_={"type": _NEW_ENTITY.excluded.type, "status": _NEW_ENTITY.excluded.status},
)
_NEW_VERSION: Final = insert(registry_version)
_KEEP_VERSION: Final = _NEW_VERSION.on_conflict_do_update(
    index_elements=["entity_id", "number"], set_=dict(_NEW_VERSION.excluded.items())
)

_EVENTS: Final = {
    RegistryAction.SUBMIT: EventName.REGISTRY_ENTRY_SUBMIT,
    RegistryAction.UPDATE: EventName.REGISTRY_ENTRY_SUBMIT,
    RegistryAction.APPROVE: EventName.REGISTRY_ENTRY_APPROVE,
    RegistryAction.GO_LIVE: EventName.REGISTRY_ENTRY_APPROVE,
    RegistryAction.REJECT: EventName.REGISTRY_ENTRY_REJECT,
    RegistryAction.SUSPEND: EventName.REGISTRY_ENTRY_SUSPEND,
    RegistryAction.RESTORE: EventName.REGISTRY_ENTRY_RESTORE,
    RegistryAction.RETIRE: EventName.REGISTRY_ENTRY_RETIRE,
    RegistryAction.ROLL_BACK: EventName.REGISTRY_ENTRY_ROLLBACK,
}


class RegistryStore:
    """Implements `Registry`."""

    def __init__(
        self,
        transaction: Transaction,
        *,
        one_operator: bool = False,
        notices: "NoticeService | None" = None,
    ) -> None:
        """`notices` sends the emails to members; None where nothing is decided."""
        self._tx = transaction
        self.one_operator = one_operator
        self._notices = notices

    async def lock(self) -> dt.datetime:
        """Lock the registry until the transaction ends; returns the time of its decisions."""
        await lock_registry(self._tx)
        return whole_ms(await self._tx.now())

    async def has_right_now(self, actor: Actor, entity_id: str) -> bool:
        """Return whether they still have the right by which they came."""
        return await has_right_now(self._tx, actor, entity_id)

    async def record(
        self, entity_id: str, *, version: int = 0, entry: Entry | None = None
    ) -> Record | None:
        """Return what decides about an entity."""
        return await read_record(self._tx, entity_id, version, entry)

    async def history(self, entity_id: str) -> Record | None:
        """Return the newest versions of an entity."""
        return await read_history(self._tx, entity_id)

    async def live_count(self) -> int:
        """Return the number of live entries."""
        return await self._tx.connection.scalar(_LIVE_COUNT) or 0

    async def live_entries(self) -> Sequence[bytes]:
        """Return the canonical form of every live entry, in the order of type and ID."""
        bodies = await self._tx.connection.scalars(
            sa.select(_V.body)
            .join(registry_entity, _V.entity_id == _E.entity_id)
            .where(_E.status == EntityStatus.LIVE.value, _V.status == VersionStatus.LIVE.value)
            .order_by(_E.type.collate("C"), _E.entity_id.collate("C"))
        )
        return [bytes(body) for body in bodies]

    async def facts(self, entry: Entry, key: KeyFacts, now: dt.datetime) -> Facts:
        """Return which other entities hold the entry's handle, `kid` and modulus."""
        return await read_facts(self._tx, entry, key, now)

    async def grants(self, entity_id: str, after: dt.datetime) -> Sequence[Grant]:
        """Return which rights of operators and of the entity were given after a time.

        And those of former admins who read a secret that is still valid.
        """
        return await read_grants(self._tx, entity_id, after)

    async def due(self, now: dt.datetime) -> Sequence[str]:
        """Return the IDs of entities with an approved version whose time has come, in its order."""
        ids = await self._tx.connection.scalars(_DUE, {"now": now})
        return ids.all()

    async def keep(self, decision: Decision) -> None:
        """Carry out a decision, all of it in this transaction."""
        await self._keep_record(decision.before, decision.after)
        if decision.tokens is not TokenEffect.NONE:
            await self._set_member_status(decision)
        published = decision.publication
        if published is not None:
            await self._publish(
                decision.at, published.entity_type, published.entity_id, published.body
            )
            # Its credentials may be bound to the addresses that just changed (0108).
            await self._tx.changing(entity_key(published.entity_id), must_not_be_missed=True)
        detail: dict[str, str | int] = {
            "act": decision.action.value,
            "version": decision.version,
            "status": decision.status,
        }
        if (withdrawn := decision.withdrawn) is not None and withdrawn.goes_live_at is not None:
            detail["withdrawn"] = withdrawn.number
            detail["withdrawnDueAt"] = wire_time(withdrawn.goes_live_at)
        await self._audit(
            AuditEntry(
                _EVENTS[decision.action],
                _caller_of(decision.actor),
                decision.after.entity_id,
                reason=decision.reason,
                detail=detail,
            )
        )
        facts = member_notice(decision)
        if self._notices is not None and facts is not None:
            kind = NoticeKind.REGISTRY_CHANGED
            await self._notices.notify(decision.after.entity_id, kind, facts)

    async def keep_refusal(
        self, action: RegistryAction, entity_id: str, actor: Actor, refusal: RegistryRefusal
    ) -> None:
        """Write the audit row of a refusal."""
        detail = {"act": action.value}
        if isinstance(refusal, AlreadyHeld):
            detail["holder"] = refusal.holder
        await self._audit(
            AuditEntry(
                EventName.REGISTRY_ENTRY_REFUSE,
                _caller_of(actor),
                entity_id,
                reason=type(refusal).__name__,
                detail=detail,
                outcome=Outcome.REFUSED,
            )
        )

    async def mark_visibility(self) -> None:
        """Write the marker of a changed visibility setting into the log."""
        await self._publish(await self.lock(), None, "", None)

    async def keep_visibility(self, name: str, setting: str) -> None:
        """Store the visibility setting, with a marker if it differs from the last one."""
        await self.lock()
        last = await self._tx.connection.scalar(
            sa.select(service_fact.c.value).where(service_fact.c.name == name)
        )
        if last == setting:
            return
        await self._tx.connection.execute(
            insert(service_fact)
            .values(name=name, value=setting)
            .on_conflict_do_update(index_elements=["name"], set_={"value": setting})
        )
        if last is not None or setting == "true":
            await self.mark_visibility()

    async def _keep_record(self, before: Record | None, after: Record) -> None:
        await self._tx.connection.execute(
            _KEEP_ENTITY,
            {
                "entity_id": after.entity_id,
                "type": after.entity_type.value,
                "status": after.status.value,
            },
        )
        previous = {} if before is None else {one.number: one for one in before.versions}
        changed = [one for one in after.versions if previous.get(one.number) != one]
        # Versions leave the states of which there is one each before others enter them.
        changed.sort(
            key=lambda one: (
                one.status in {VersionStatus.LIVE, VersionStatus.SUBMITTED, VersionStatus.APPROVED}
            )
        )
        for version in changed:
            await self._tx.connection.execute(_KEEP_VERSION, version_row(after.entity_id, version))

    async def _set_member_status(self, decision: Decision) -> None:
        """Stop or resume the entity's tokens on every node, from the commit on.

        A member that an operator suspended directly does not get them back (0009).
        """
        entity_id = decision.after.entity_id
        c = entity.c
        found = (
            await self._tx.connection.execute(
                sa.select(c.membership, c.status).where(c.entity_id == entity_id).with_for_update()
            )
        ).first()
        if found is None:
            return
        status = effective_status(
            MemberStatus(found.membership), status_of_entry(decision.after.status)
        )
        if status == found.status:
            return
        await store_status(self._tx, entity_id, status)
        await self._audit(
            AuditEntry(
                EventName.ENTITY_STATUS_CHANGE,
                _caller_of(decision.actor),
                entity_id,
                reason=decision.reason,
                detail={"from": found.status, "to": status.value},
            )
        )

    async def _publish(
        self, at: dt.datetime, entity_type: EntityType | None, entity_id: str, body: bytes | None
    ) -> None:
        last = (await self._tx.connection.execute(_LAST)).first()
        await self._tx.connection.execute(
            _PUBLISH,
            {
                "sequence": 1 if last is None else last.sequence + 1,
                # The clock of a database that was replaced may lag: the log never goes back.
                "at": at if last is None else max(at, last.at),
                "type": None if entity_type is None else entity_type.value,
                "entity_id": entity_id,
                "body": body,
            },
        )
        await self._tx.changing(REGISTRY_CHANGED, must_not_be_missed=True)

    async def _audit(self, entry: AuditEntry) -> None:
        await AuditLog(self._tx).append(entry)


def _caller_of(actor: Actor) -> Caller:
    name = "system" if actor.kind is ActorKind.SCHEDULE else actor.name
    return Caller(name, actor.address, actor.txn_id)


def whole_ms(moment: dt.datetime) -> dt.datetime:
    """Cut a time to milliseconds, as responses show it: `?at=` that time finds the change."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
