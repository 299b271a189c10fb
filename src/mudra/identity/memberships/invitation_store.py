"""Invitations of an entity's admins in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.identity.memberships.invitation import PERIOD, Invitation
from mudra.identity.memberships.member import Role
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import admin_invitation, entity

_C: Final = admin_invitation.c
_END_EARLIER: Final = (
    sa.update(admin_invitation)
    .where(
        _C.entity_id == sa.bindparam("of_entity"),
        _C.email == sa.bindparam("of_email"),
        _C.ended_at.is_(None),
    )
    .values(ended_at=sa.bindparam("at"))
)
_ADD: Final = sa.insert(admin_invitation)
_SENT: Final = sa.select(_C.created_at).where(
    _C.entity_id == sa.bindparam("entity_id"), _C.created_at > sa.bindparam("since")
)
_IN_ORDER: Final = (
    sa.select(admin_invitation, entity.c.name.label("entity_name"))
    .join(entity, entity.c.entity_id == _C.entity_id)
    .order_by(_C.created_at, _C.invitation_id)
    .with_for_update(of=admin_invitation)
)
_PENDING: Final = _IN_ORDER.where(
    _C.entity_id == sa.bindparam("entity_id"),
    _C.ended_at.is_(None),
    _C.expires_at > sa.bindparam("now"),
)
_IS_LINK: Final = _C.token_hash == sa.bindparam("token_hash")
_LOCK_ENTITY: Final = (
    sa.select(entity.c.entity_id)
    .where(entity.c.entity_id == sa.select(_C.entity_id).where(_IS_LINK).scalar_subquery())
    .with_for_update()
)
_FIND: Final = _IN_ORDER.where(_IS_LINK)
_END: Final = (
    sa.update(admin_invitation)
    .where(_C.invitation_id == sa.bindparam("of_invitation"), _C.ended_at.is_(None))
    .values(ended_at=sa.bindparam("at"), accepted=sa.bindparam("is_accepted"))
)


class Invitations:
    """Invitations; of the link only the hash of its token is stored."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, invitation: Invitation) -> None:
        """Store an invitation; an earlier one of the entity to the same address ends."""
        await self._tx.connection.execute(
            _END_EARLIER,
            {
                "of_entity": invitation.entity_id,
                "of_email": invitation.email,
                "at": invitation.created_at,
            },
        )
        await self._tx.connection.execute(
            _ADD,
            {
                "invitation_id": invitation.invitation_id,
                "entity_id": invitation.entity_id,
                "email": invitation.email,
                "name": invitation.name,
                "invited_by": invitation.invited_by,
                "created_at": invitation.created_at,
                "expires_at": invitation.expires_at,
                "token_hash": invitation.token_hash,
                "takes_over": invitation.takes_over,
                "role": invitation.role.value,
            },
        )

    async def sent(self, entity_id: str) -> Sequence[datetime]:
        """Return when the entity sent its invitations of the last 24 hours."""
        found = await self._tx.connection.scalars(
            _SENT, {"entity_id": entity_id, "since": await self._tx.now() - PERIOD}
        )
        return found.all()

    async def pending(self, entity_id: str) -> Sequence[Invitation]:
        """Return the invitations of an entity that can still be accepted, the oldest first."""
        which = {"entity_id": entity_id, "now": await self._tx.now()}
        return _read(await self._tx.connection.execute(_PENDING, which))

    async def awaits_admin(self, entity_id: str) -> bool:
        """Return whether someone is invited to be one more admin, and may still accept."""
        pending = await self.pending(entity_id)
        return any(one.role is Role.ADMIN and not one.takes_over for one in pending)

    async def find(self, token_hash: bytes) -> Invitation | None:
        """Find an invitation by its link, and hold its entity's lock and its own from here on.

        In this order, in which a change of the entity's admins takes them: neither can hold what
        the other waits for.
        """
        which = {"token_hash": token_hash}
        await self._tx.connection.execute(_LOCK_ENTITY, which)
        found = _read(await self._tx.connection.execute(_FIND, which))
        return found[0] if found else None

    async def end(self, invitation_id: str, now: datetime, *, accepted: bool) -> None:
        """End an invitation that was accepted or withdrawn."""
        await self._tx.connection.execute(
            _END, {"of_invitation": invitation_id, "at": now, "is_accepted": accepted}
        )


def _read(rows: sa.CursorResult[tuple[object, ...]]) -> list[Invitation]:
    return [
        Invitation(
            invitation_id=row["invitation_id"],
            entity_id=row["entity_id"],
            entity_name=row["entity_name"],
            email=row["email"],
            name=row["name"],
            invited_by=row["invited_by"],
            created_at=row["created_at"],
            expires_at=row["expires_at"],
            token_hash=bytes(row["token_hash"]),
            ended_at=row["ended_at"],
            accepted=row["accepted"],
            takes_over=row["takes_over"],
            role=Role(row["role"]),
        )
        for row in rows.mappings()
    ]
