"""A restore is a rollback: what was true and is not, must not go on unseen.

The database says again what it said at the backup. Everyone signs in again; one-time links end,
also those that were used since; what the second place knows of revoked tokens and dropped signing
keys is revoked and dropped again; every member gets an email.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.acts import Act
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.memberships.notices import NoticeService
from mudra.overview.restored_store import RestoredStore
from mudra.shared.mail.notice import NoticeKind
from mudra.shared.time_text import iso_ms
from mudra.tokens.signing_keys.signing_key_service import SigningKeyService


class RolledBack(Struct, frozen=True):
    """The work after a restore."""

    tokens_ended: int
    members_notified: int
    revoked_again: int
    keys_dropped_again: int


class Origin(Struct, frozen=True):
    """The source of a restored database, and the moment that it shows."""

    backup_id: str
    made_at: datetime
    is_rehearsal: bool = False
    """The copy is for a look: nothing of it reaches anyone."""


_RESET: Final = EventName.ENTITY_SECRET_RESET.value
_DROP: Final = EventName.KEYS_SIGNING_DROP


class RollbackService(Struct, frozen=True):
    """Ends what a restore made true again, in the caller's transaction."""

    store: RestoredStore
    signing_keys: SigningKeyService
    notices: NoticeService
    audit_log: AuditLog

    async def roll_back(
        self, origin: Origin, lost: Sequence[Act], caller: Caller, now: datetime
    ) -> RolledBack:
        """End what must not go on, drop and revoke again what was lost, and notify members."""
        dropped = frozenset(act.about for act in lost if act.event == _DROP.value)
        changes = await self.signing_keys.drop(dropped, caller, now)
        ended = await self.store.end_sign_ins(now)
        revoked = await self.store.revoke_again(lost)
        notified = 0 if origin.is_rehearsal else await self._notify_members(origin, lost, now)
        await self.audit_log.append(
            AuditEntry(
                EventName.DATABASE_BACKUP_RESTORE,
                caller,
                detail={"backup": origin.backup_id, "made": iso_ms(origin.made_at)},
            )
        )
        await self.store.finished(origin.backup_id, is_rehearsal=origin.is_rehearsal)
        return RolledBack(ended, notified, revoked, sum(one.event is _DROP for one in changes))

    async def _notify_members(self, origin: Origin, lost: Sequence[Act], now: datetime) -> int:
        reset = {act.entity_id for act in lost if act.event == _RESET}
        notified = 0
        for entity_id in await self.store.members():
            facts = {
                "restored_to": iso_ms(origin.made_at),
                "restored_at": iso_ms(now),
                "secret_lost": "yes" if entity_id in reset else "",
            }
            notified += await self.notices.notify(entity_id, NoticeKind.SERVICE_RESTORED, facts) > 0
        return notified
