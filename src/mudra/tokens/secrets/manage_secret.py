"""Read, reset and retire an entity's secret (spec 2.3, 3, 4.2, 4.3, 8).

Refusals are returned, so that the caller's transaction keeps their audit row.
"""

from collections.abc import Callable
from datetime import datetime

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.ports import AuditLog
from mudra.identity.memberships.member import NotYourEntity
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.tokens.ports import SecretHolding, Secrets, SecretUses
from mudra.tokens.secrets import reset_rule
from mudra.tokens.secrets.old_secret_use import NEVER_USED, SecretUse
from mudra.tokens.secrets.reset_rule import (
    ResetDecision,
    ResetLimitReached,
    ResetPermitted,
    ResetTooSoon,
)
from mudra.tokens.secrets.secret import EntitySecret, new_secret_text, rotate


class NothingInGrace(Refusal, frozen=True):
    """No old secret is in its grace period, so there is nothing to retire."""


class SecretDetails(Struct, frozen=True):
    """A secret with its text, for the one answer that carries it.

    `in_grace` is the old secret whose grace period still runs.
    """

    secret: EntitySecret
    text: SecretText
    in_grace: EntitySecret | None

    @property
    def grace_days(self) -> int:
        """Days granted at the last reset while that grace runs, else 0."""
        return self.in_grace.grace_days if self.in_grace else 0


async def read_secret(
    entity_id: str,
    administered: tuple[str, ...],
    caller: Caller,
    secrets: Secrets,
    journal: AuditLog,
) -> SecretDetails | NotYourEntity:
    """Show the current secret of an entity that the caller administers."""
    holding = await secrets.held(entity_id) if entity_id in administered else None
    if holding is None:
        await journal.note(_act(EventName.ENTITY_SECRET_READ, entity_id, caller, "not-admin"))
        return NotYourEntity()
    await journal.note(
        _act(EventName.ENTITY_SECRET_READ, entity_id, caller, version=holding.current.version)
    )
    return SecretDetails(
        holding.current, await secrets.text_of(holding.current), _running_grace(holding)
    )


class ResetCommand(Struct, frozen=True):
    """What a reset asks for, in whole days (spec 2.3)."""

    entity_id: str
    expiry_days: int
    keep_old_days: int


async def reset_secret(  # its collaborators, each named
    order: ResetCommand,
    administered: tuple[str, ...],
    caller: Caller,
    *,
    secrets: Secrets,
    journal: AuditLog,
    random_bytes: Callable[[int], bytes],
) -> SecretDetails | NotYourEntity | ResetTooSoon | ResetLimitReached:
    """Replace the secret, when the rule of spec 8 permits it, under the entity's lock."""
    entity_id = order.entity_id
    holding = await secrets.locked(entity_id) if entity_id in administered else None
    if holding is None:
        await journal.note(_act(EventName.ENTITY_SECRET_RESET, entity_id, caller, "not-admin"))
        return NotYourEntity()
    decision = reset_rule.decide(holding.resets, holding.now)
    if not isinstance(decision, ResetPermitted):
        reason = "too-soon" if isinstance(decision, ResetTooSoon) else "limit-reached"
        await journal.note(_act(EventName.ENTITY_SECRET_RESET, entity_id, caller, reason))
        return decision
    rotation = rotate(holding.current, holding.now, order.expiry_days, order.keep_old_days)
    text = new_secret_text(random_bytes)
    await secrets.replace(rotation, text)
    await journal.note(
        _act(
            EventName.ENTITY_SECRET_RESET,
            entity_id,
            caller,
            version=rotation.new.version,
            expiry_days=order.expiry_days,
            keep_old_days=rotation.grace_days,
        )
    )
    return SecretDetails(rotation.new, text, rotation.former if rotation.grace_days else None)


async def retire_old_secret(
    entity_id: str,
    administered: tuple[str, ...],
    caller: Caller,
    secrets: Secrets,
    journal: AuditLog,
) -> EntitySecret | NotYourEntity | NothingInGrace:
    """End the grace period of the old secret early."""
    holding = await secrets.locked(entity_id) if entity_id in administered else None
    if holding is None:
        await journal.note(_act(EventName.ENTITY_SECRET_RETIRE, entity_id, caller, "not-admin"))
        return NotYourEntity()
    old = _running_grace(holding)
    if old is None:
        return NothingInGrace()
    await secrets.end_grace(old, holding.now)
    await journal.note(_act(EventName.ENTITY_SECRET_RETIRE, entity_id, caller, version=old.version))
    return old


class SecretUsage(Struct, frozen=True):
    """How the current secret, and the old one while its grace runs, were used.

    `next_reset` tells whether a reset is permitted now, and when not; `then_reset` from when
    another is if there is one now.
    """

    current: EntitySecret
    current_use: SecretUse
    old: EntitySecret | None
    old_use: SecretUse
    next_reset: ResetDecision
    then_reset: datetime
    now: datetime


async def secret_use(
    entity_id: str, administered: tuple[str, ...], secrets: Secrets, uses: SecretUses
) -> SecretUsage | NotYourEntity:
    """Show when and from where the secrets were used, so that the old one can be let go."""
    holding = await secrets.held(entity_id) if entity_id in administered else None
    if holding is None:
        return NotYourEntity()
    old = _running_grace(holding)
    return SecretUsage(
        holding.current,
        await uses.of(entity_id, holding.current.version),
        old,
        await uses.of(entity_id, old.version) if old else NEVER_USED,
        reset_rule.decide(holding.resets, holding.now),
        reset_rule.permitted_after(holding.resets, holding.now),
        holding.now,
    )


def _running_grace(holding: SecretHolding) -> EntitySecret | None:
    old = holding.in_grace
    return old if old is not None and old.in_grace(holding.now) else None


def _act(
    event: EventName, entity_id: str, caller: Caller, reason: str = "", **detail: int
) -> AuditEntry:
    outcome = Outcome.REFUSED if reason else Outcome.SUCCESS
    return AuditEntry(event, caller, entity_id, reason=reason, detail=detail, outcome=outcome)
