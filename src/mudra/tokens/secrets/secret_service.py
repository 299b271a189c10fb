"""Read, reset and retire an entity's secret (spec 2.3, 3, 4.2, 4.3, 8).

Refusals are returned, so that the caller's transaction keeps their audit row.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.user import User
from mudra.identity.memberships.member import NotYourEntity, has_role
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.localization.language import gettext, translatable
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.shared.time_text import iso_ms
from mudra.storage.database.transaction import Transaction
from mudra.tokens.secrets import reset_rule
from mudra.tokens.secrets.old_secret_use import NEVER_USED, SecretUse
from mudra.tokens.secrets.reset_rule import (
    ResetDecision,
    ResetLimitReached,
    ResetPermitted,
    ResetTooSoon,
)
from mudra.tokens.secrets.secret import EntitySecret, first_secret, new_secret_text, rotate
from mudra.tokens.secrets.secret_store import SecretHolding, Secrets
from mudra.tokens.secrets.secret_use_store import SecretUses

NOTHING_IN_GRACE: Final = PlainRefusal(
    RefusalKind.CONFLICT, translatable("no old secret of entityId is in its grace period")
)


class SecretChanged(Refusal, frozen=True):
    """Another reset replaced the secret that the request is about; `version` is the current one."""

    kind = RefusalKind.CONFLICT
    version: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return gettext(
            "the secret was reset since this page was opened: version %(version)s is the "
            "current one; nothing was changed now",
            version=self.version,
        )


class SecretDetails(Struct, frozen=True):
    """A secret with its text, for the one response that carries it.

    `in_grace` is the old secret whose grace period has not ended.
    """

    secret: EntitySecret
    text: SecretText
    in_grace: EntitySecret | None

    @property
    def grace_days(self) -> int:
        """Days granted at the last reset until that grace period ends, then 0."""
        return self.in_grace.grace_days if self.in_grace else 0


class SecretUsage(Struct, frozen=True):
    """The use of the current secret, and of the old one during its grace period.

    `next_reset` says whether a reset is permitted now, and if not, when; `then_reset`
    from when another one is permitted if there is one now.
    """

    current: EntitySecret
    current_use: SecretUse
    old: EntitySecret | None
    old_use: SecretUse
    next_reset: ResetDecision
    then_reset: datetime
    now: datetime


class ResetCommand(Struct, frozen=True):
    """The wishes of a reset, in whole days (spec 2.3).

    With `expected_version`, the reset is refused when that is not the current secret.
    """

    entity_id: str
    expiry_days: int
    keep_old_days: int
    expected_version: int | None = None


class SecretService(Struct, frozen=True):
    """The acts of an entity's admins on its secret, in the caller's transaction."""

    tx: Transaction
    random_bytes: Callable[[int], bytes]

    async def read(
        self, entity_id: str, user: User, caller: Caller
    ) -> SecretDetails | NotYourEntity:
        """Return the current secret of an entity that the user administers."""
        event = EventName.ENTITY_SECRET_READ
        found = await self._current(entity_id) if entity_id in user.administers else None
        # After the secret is read: one that was reset as they were removed is not theirs.
        if found is None or not await self._is_admin_now(entity_id, user):
            return await self._not_your_entity(event, entity_id, caller)
        await self._record(event, entity_id, caller, version=found.secret.version)
        return found

    async def reset(
        self, command: ResetCommand, user: User, caller: Caller
    ) -> SecretDetails | NotYourEntity | SecretChanged | ResetTooSoon | ResetLimitReached:
        """Replace the secret, when the rule of spec 8 permits it, and email all admins."""
        event, entity_id = EventName.ENTITY_SECRET_RESET, command.entity_id
        holding = await self._locked(entity_id, user)
        if holding is None:
            return await self._not_your_entity(event, entity_id, caller)
        if command.expected_version not in {None, holding.current.version}:
            return SecretChanged(holding.current.version)
        decision = reset_rule.decide(holding.resets, holding.now)
        if not isinstance(decision, ResetPermitted):
            reason = "too-soon" if isinstance(decision, ResetTooSoon) else "limit-reached"
            await self._record(event, entity_id, caller, reason)
            return decision
        rotation = rotate(holding.current, holding.now, command.expiry_days, command.keep_old_days)
        new, old = rotation.new, _in_grace(rotation.previous, holding.now)
        text = new_secret_text(self.random_bytes)
        await Secrets(self.tx).replace(rotation, text)
        await self._record(
            event,
            entity_id,
            caller,
            version=new.version,
            expiry_days=command.expiry_days,
            keep_old_days=old.grace_days if old else 0,
        )
        await self.tx.service(NoticeService).notify(
            entity_id,
            NoticeKind.SECRET_RESET,
            {
                "reset_by": user.email,
                "reset_at": iso_ms(new.created_at),
                "expires_at": iso_ms(new.expires_at),
                "old_secret_ends_at": iso_ms(old.grace_until) if old and old.grace_until else "",
            },
        )
        return SecretDetails(new, text, old)

    async def retire(
        self, entity_id: str, user: User, caller: Caller, expected_version: int | None = None
    ) -> EntitySecret | NotYourEntity | PlainRefusal | SecretChanged:
        """End the grace period of the old secret early.

        With `expected_version`, this is refused when that is not the old secret.
        """
        event = EventName.ENTITY_SECRET_RETIRE
        holding = await self._locked(entity_id, user)
        if holding is None:
            return await self._not_your_entity(event, entity_id, caller)
        old = _secret_in_grace(holding)
        if old is None:
            return NOTHING_IN_GRACE
        if expected_version not in {None, old.version}:
            return SecretChanged(holding.current.version)
        await Secrets(self.tx).end_grace(old, holding.now)
        await self._record(event, entity_id, caller, version=old.version)
        return old

    async def usage(
        self, entity_id: str, user: User, caller: Caller
    ) -> SecretUsage | NotYourEntity:
        """Return when and from where the secrets were used, and when the next reset may be.

        Also to the entity's readers: nothing of a secret is in it.
        """
        holding = await Secrets(self.tx).held(entity_id) if user.sees(entity_id) else None
        if holding is None:
            return await self._not_your_entity(EventName.ENTITY_SECRET_READ, entity_id, caller)
        old = _secret_in_grace(holding)
        return SecretUsage(
            holding.current,
            await SecretUses(self.tx).of(entity_id, holding.current.version),
            old,
            await SecretUses(self.tx).of(entity_id, old.version) if old else NEVER_USED,
            reset_rule.decide(holding.resets, holding.now),
            reset_rule.permitted_after(holding.resets, holding.now),
            holding.now,
        )

    async def _current(self, entity_id: str) -> SecretDetails | None:
        """Read the current secret, again when a reset ends it before its text is read."""
        while (holding := await Secrets(self.tx).held(entity_id)) is not None:
            text = await Secrets(self.tx).text_of(holding.current)
            if text is not None:
                return SecretDetails(holding.current, text, _secret_in_grace(holding))
        return None

    async def _locked(self, entity_id: str, user: User) -> SecretHolding | None:
        """Lock the entity for an admin of it, whose right may have ended while they waited."""
        if entity_id not in user.administers:
            return None
        holding = await Secrets(self.tx).locked(entity_id)
        return holding if await self._is_admin_now(entity_id, user) else None

    async def _is_admin_now(self, entity_id: str, user: User) -> bool:
        return has_role(await Memberships(self.tx).admins(entity_id), user.user_id)

    async def _not_your_entity(
        self, event: EventName, entity_id: str, caller: Caller
    ) -> NotYourEntity:
        await self._record(event, entity_id, caller, "not-admin")
        return NotYourEntity()

    async def _record(
        self, event: EventName, entity_id: str, caller: Caller, reason: str = "", **detail: int
    ) -> None:
        outcome = Outcome.REFUSED if reason else Outcome.SUCCESS
        await AuditLog(self.tx).append(
            AuditEntry(event, caller, entity_id, reason=reason, detail=detail, outcome=outcome)
        )


def _secret_in_grace(holding: SecretHolding) -> EntitySecret | None:
    return _in_grace(holding.in_grace, holding.now)


def _in_grace(old: EntitySecret | None, now: datetime) -> EntitySecret | None:
    return old if old is not None and old.in_grace(now) else None


class FirstSecretService(Struct, frozen=True):
    """Creates first secrets; implements the port of onboarding in identity."""

    tx: Transaction
    random_bytes: Callable[[int], bytes]

    async def create(self, entity_id: str, caller: Caller, now: datetime) -> None:
        """Create and store the first secret of an entity."""
        secret = first_secret(entity_id, now)
        await Secrets(self.tx).keep_first(secret, new_secret_text(self.random_bytes))
        await AuditLog(self.tx).append(
            AuditEntry(EventName.ENTITY_SECRET_CREATE, caller, entity_id, detail={"version": 1})
        )
