"""Invitations of an entity's admins in PostgreSQL: implements identity/ports.py."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

import sqlalchemy as sa

from mudra.identity.memberships.invitation import PERIOD, Invitation
from mudra.identity.memberships.member import Role
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import entity
from mudra.storage.identity.tables import admin_invitation


def _of_new_releases(token_hash: bytes) -> bytes:
    return hashlib.sha256(b"role and hand-over:" + token_hash).digest()


def _stored_hash(invitation: Invitation) -> bytes:
    """Return a hash that nodes of a release before these invitations do not find.

    They would make a reader an admin, and let the one who hands over stay (0131, 0132).
    """
    is_plain = invitation.role is Role.ADMIN and not invitation.takes_over
    return invitation.token_hash if is_plain else _of_new_releases(invitation.token_hash)


class PostgresInvitations:
    """Invitations; of the link only the hash of its token is stored (quality A12)."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def add(self, invitation: Invitation) -> None:
        """Store an invitation; an earlier one of the entity to the same address ends."""
        c = admin_invitation.c
        await self._tx.connection.execute(
            sa.update(admin_invitation)
            .where(
                c.entity_id == invitation.entity_id,
                c.email == invitation.email,
                c.ended_at.is_(None),
            )
            .values(ended_at=invitation.created_at)
        )
        await self._tx.connection.execute(
            sa.insert(admin_invitation).values(
                invitation_id=invitation.invitation_id,
                entity_id=invitation.entity_id,
                email=invitation.email,
                name=invitation.name,
                invited_by=invitation.invited_by,
                created_at=invitation.created_at,
                expires_at=invitation.expires_at,
                token_hash=_stored_hash(invitation),
                takes_over=invitation.takes_over,
                role=invitation.role.value,
            )
        )

    async def sent(self, entity_id: str) -> Sequence[datetime]:
        """Return when the entity sent its invitations of the last 24 hours."""
        c = admin_invitation.c
        found = await self._tx.connection.scalars(
            sa.select(c.created_at).where(
                c.entity_id == entity_id, c.created_at > await self._tx.now() - PERIOD
            )
        )
        return found.all()

    async def pending(self, entity_id: str) -> Sequence[Invitation]:
        """Return the invitations of an entity that can still be accepted, the oldest first."""
        c = admin_invitation.c
        return await self._where(
            sa.and_(
                c.entity_id == entity_id,
                c.ended_at.is_(None),
                c.expires_at > await self._tx.now(),
            )
        )

    async def find(self, token_hash: bytes) -> Invitation | None:
        """Find an invitation by its link, and hold its entity's lock and its own from here on.

        In this order, in which a change of the entity's admins takes them: neither can hold what
        the other waits for.
        """
        c = admin_invitation.c
        is_link = c.token_hash.in_([token_hash, _of_new_releases(token_hash)])
        of_link = sa.select(c.entity_id).where(is_link).scalar_subquery()
        await self._tx.connection.execute(
            sa.select(entity.c.entity_id).where(entity.c.entity_id == of_link).with_for_update()
        )
        found = await self._where(is_link)
        return found[0] if found else None

    async def end(self, invitation_id: str, now: datetime, *, accepted: bool) -> None:
        """End an invitation that was accepted or withdrawn."""
        c = admin_invitation.c
        await self._tx.connection.execute(
            sa.update(admin_invitation)
            .where(c.invitation_id == invitation_id, c.ended_at.is_(None))
            .values(ended_at=now, accepted=accepted)
        )

    async def _where(self, which: sa.ColumnElement[bool]) -> list[Invitation]:
        rows = await self._tx.connection.execute(
            sa.select(admin_invitation, entity.c.name.label("entity_name"))
            .join(entity, entity.c.entity_id == admin_invitation.c.entity_id)
            .where(which)
            .order_by(admin_invitation.c.created_at, admin_invitation.c.invitation_id)
            .with_for_update(of=admin_invitation)
        )
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
