"""Members and people by the page, as an operator looks for them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

import sqlalchemy as sa

from mudra.identity.memberships.member import CAN_ACT
from mudra.identity.memberships.member_search import (
    ExpiringSecret,
    MemberFilter,
    MemberRow,
    UserFilter,
    UserRow,
)
from mudra.storage.database.database import Transaction
from mudra.storage.database.tables import (
    email_link,
    entity,
    entity_admin,
    entity_secret,
    user_account,
)
from mudra.storage.identity.tables import entity_contact, operator_scope, passkey, totp_factor
from mudra.storage.tokens.tables import secret_use


class PostgresMemberSearch:
    """Lists, ordered by a key that the next page begins after."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def members(self, which: MemberFilter, after: str, limit: int) -> Sequence[MemberRow]:
        """List members by entity ID."""
        e, a, u = entity.c, entity_admin.c, user_account.c
        admins = _array(
            sa.select(u.email)
            .join(entity_admin, a.user_id == u.user_id)
            .where(a.entity_id == e.entity_id)
            .order_by(a.since, u.email)
        )
        able = _able()
        expires = (
            sa.select(entity_secret.c.expires_at)
            .where(entity_secret.c.entity_id == e.entity_id, entity_secret.c.state == "current")
            .scalar_subquery()
        )
        contact, phone = (
            sa.select(column).where(entity_contact.c.entity_id == e.entity_id).scalar_subquery()
            for column in (entity_contact.c.email, entity_contact.c.phone)
        )
        query = sa.select(
            *(e.entity_id, e.type, e.name, e.status, e.created_at, expires),
            *(sa.func.coalesce(contact, ""), sa.func.coalesce(phone, ""), admins, able),
        ).where(e.entity_id > after)
        for column, wanted in (
            (e.entity_id, which.entity_id),
            (e.type, which.entity_type),
            (e.status, which.status),
        ):
            query = query.where(column == wanted) if wanted else query
        for word in which.text.split():
            query = query.where(
                sa.or_(
                    e.entity_id.icontains(word, autoescape=True),
                    e.name.icontains(word, autoescape=True),
                )
            )
        if which.without_admin:
            query = query.where(able == 0)
        if which.among is not None:
            query = query.where(
                e.entity_id == sa.any_(sa.literal([*which.among], sa.ARRAY(sa.Text)))
            )
        rows = await self._tx.connection.execute(query.order_by(e.entity_id).limit(limit))
        return [
            MemberRow(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], tuple(r[8]), r[9])
            for r in rows
        ]

    async def expiring(self, until: datetime, limit: int) -> Sequence[ExpiringSecret]:
        """List secrets of active members that expire before `until`, the first to expire first."""
        e, s, use = entity.c, entity_secret.c, secret_use.c
        used = (
            sa.select(sa.func.max(use.last_used_at))
            .where(use.entity_id == s.entity_id, use.version == s.version)
            .scalar_subquery()
        )
        rows = await self._tx.connection.execute(
            sa.select(e.entity_id, e.name, s.expires_at, used, _able())
            .join(entity_secret, s.entity_id == e.entity_id)
            .where(s.state == "current", s.expires_at < until, e.status == "active")
            .order_by(s.expires_at, e.entity_id)
            .limit(limit)
        )
        return [ExpiringSecret(*row) for row in rows]

    async def addresses(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """Give the address of each of these users that exists."""
        u = user_account.c
        rows = await self._tx.connection.execute(
            sa.select(sa.cast(u.user_id, sa.Text), u.email).where(
                sa.cast(u.user_id, sa.Text).in_(user_ids)
            )
        )
        return {user_id: email for user_id, email in rows}  # noqa: C416  # rows are no pairs

    async def users(self, which: UserFilter, after: str, limit: int) -> Sequence[UserRow]:
        """List people by address."""
        u, a, s = user_account.c, entity_admin.c, operator_scope.c
        administers = _array(
            sa.select(a.entity_id).where(a.user_id == u.user_id).order_by(a.entity_id)
        )
        scopes = _array(sa.select(s.scope).where(s.user_id == u.user_id).order_by(s.scope))
        link = email_link.c
        invited = (
            sa.select(sa.func.max(link.expires_at))
            .where(link.user_id == u.user_id, link.used_at.is_(None), link.voided_at.is_(None))
            .scalar_subquery()
        )
        factor = sa.or_(
            sa.exists().where(totp_factor.c.user_id == u.user_id, totp_factor.c.confirmed),
            sa.exists().where(passkey.c.user_id == u.user_id),
        )
        query = sa.select(
            u.user_id, u.email, u.name, u.state, u.created_at, invited, administers, scopes, factor
        ).where(u.email > after)
        if which.user_id:
            query = query.where(sa.cast(u.user_id, sa.Text) == which.user_id)
        if which.state:
            query = query.where(u.state == which.state)
        if which.entity_id:
            query = query.where(
                sa.exists().where(a.user_id == u.user_id, a.entity_id == which.entity_id)
            )
        if which.operators_only:
            query = query.where(sa.exists().where(s.user_id == u.user_id))
        for word in which.text.split():
            query = query.where(
                sa.or_(
                    u.email.icontains(word, autoescape=True),
                    u.name.icontains(word, autoescape=True),
                )
            )
        rows = await self._tx.connection.execute(query.order_by(u.email).limit(limit))
        return [
            UserRow(r[0], r[1], r[2], r[3], r[4], r[5], tuple(r[6]), tuple(r[7]), r[8])
            for r in rows
        ]


def _able() -> sa.ScalarSelect[int]:
    """Count the admins of the entity who can act."""
    a, u = entity_admin.c, user_account.c
    return (
        sa.select(sa.func.count())
        .select_from(entity_admin.join(user_account, a.user_id == u.user_id))
        .where(a.entity_id == entity.c.entity_id, u.state.in_([state.value for state in CAN_ACT]))
        .correlate(entity)
        .scalar_subquery()
    )


def _array(query: sa.Select[tuple[str]]) -> sa.ColumnElement[Sequence[str]]:
    """Gather one column of the matching rows into a list."""
    return sa.func.array(query.scalar_subquery())
