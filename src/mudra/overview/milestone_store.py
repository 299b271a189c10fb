"""The milestones of members on their way to the first token: implements overview/onboarding.py."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any, Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import email_link, entity, entity_admin, user_account
from mudra.storage.tables.registry import registry_version
from mudra.storage.tables.tokens import entity_secret, token_day


class Milestones(Struct, frozen=True):
    """The times at which a member took each step; None for not yet.

    Of its first token the day is known, UTC. `secret_version` and `secret_since` are those of the
    current secret.
    """

    entity_id: str
    status: str
    invited_at: datetime
    activated_at: datetime | None
    submitted_at: datetime | None
    live_from: datetime | None
    first_token_on: date | None
    secret_version: int
    secret_since: datetime


_E: Final = entity.c
_NOT_SENT: Final = ("rejected", "withdrawn")


def _activated_at() -> sa.ScalarSelect[object]:
    """Return when the first of the admins who can act was one with a password.

    That is when the link was used; links are dropped after some weeks, then it is the password.
    """
    a, u, link = entity_admin.c, user_account.c, email_link.c
    used = sa.select(sa.func.min(link.used_at)).where(link.user_id == u.user_id).scalar_subquery()
    return (
        sa.select(sa.func.min(sa.func.greatest(a.since, sa.func.least(used, u.password_set_at))))
        .join_from(entity_admin, user_account, a.user_id == u.user_id)
        .where(a.entity_id == _E.entity_id, u.state == "active")
        .scalar_subquery()
    )


def _milestones() -> sa.Select[Any]:
    v, day, secret = registry_version.c, token_day.c, entity_secret.c
    # The first versions; a minimum would read all that there ever were.
    own = sa.select(v.submitted_at).where(v.entity_id == _E.entity_id)
    submitted = own.where(v.status.not_in(_NOT_SENT)).order_by(v.number).limit(1)
    live = (
        sa.select(v.live_from)
        .where(v.entity_id == _E.entity_id, v.live_from.is_not(None))
        .order_by(v.number)
        .limit(1)
    )
    token = sa.select(sa.func.min(day.day)).where(day.entity_id == _E.entity_id)
    return (
        sa.select(
            *(_E.entity_id, _E.status, _E.created_at, _activated_at()),
            *(one.scalar_subquery() for one in (submitted, live, token)),
            *(secret.version, secret.created_at),
        )
        .join(entity_secret, secret.entity_id == _E.entity_id)
        .where(secret.state == "current")
    )


_OF_ALL: Final = _milestones()
_OF_MEMBER: Final = _OF_ALL.where(_E.entity_id == sa.bindparam("entity_id"))


class MilestoneReads:
    """Reads what each step left behind."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def of_all(self) -> Sequence[Milestones]:
        """Return the milestones of all members."""
        return [Milestones(*row) for row in await self._tx.connection.execute(_OF_ALL)]

    async def of_member(self, entity_id: str) -> Milestones | None:
        """Return the milestones of a member."""
        found = await self._tx.connection.execute(_OF_MEMBER, {"entity_id": entity_id})
        row = found.first()
        return None if row is None else Milestones(*row)
