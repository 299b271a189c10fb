"""Members and people by the page, as an operator looks for them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final

import sqlalchemy as sa

from mudra.identity.memberships.member import CAN_ACT
from mudra.identity.memberships.member_search import (
    ExpiringSecret,
    MemberFilter,
    MemberRow,
    UserFilter,
    UserRow,
)
from mudra.storage.database.among import is_among_given
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import (
    email_link,
    entity,
    entity_admin,
    entity_contact,
    operator_scope,
    passkey,
    totp_factor,
    user_account,
)
from mudra.storage.tables.tokens import entity_secret, secret_use

_E: Final = entity.c
_U: Final = user_account.c
_A: Final = entity_admin.c
_S: Final = entity_secret.c
_O: Final = operator_scope.c
_LIMIT: Final = sa.bindparam("limit", type_=sa.Integer)


def _able() -> sa.ScalarSelect[int]:
    """Count the admins of the entity who can act."""
    return (
        sa.select(sa.func.count())
        .select_from(entity_admin.join(user_account, _A.user_id == _U.user_id))
        .where(_A.entity_id == _E.entity_id, _U.state.in_([state.value for state in CAN_ACT]))
        .correlate(entity)
        .scalar_subquery()
    )


def _array(query: sa.Select[tuple[str]]) -> sa.ColumnElement[Sequence[str]]:
    """Gather one column of the matching rows into a list."""
    return sa.func.array(query.scalar_subquery())


@cache
def _members(
    *, by_id: bool, by_type: bool, by_status: bool, without_admin: bool, among: bool
) -> sa.Select[Any]:
    admins = _array(
        sa.select(_U.email)
        .join(entity_admin, _A.user_id == _U.user_id)
        .where(_A.entity_id == _E.entity_id)
        .order_by(_A.since, _U.email)
    )
    able = _able()
    expires = (
        sa.select(_S.expires_at)
        .where(_S.entity_id == _E.entity_id, _S.state == "current")
        .scalar_subquery()
    )
    contact, phone = (
        sa.select(column).where(entity_contact.c.entity_id == _E.entity_id).scalar_subquery()
        for column in (entity_contact.c.email, entity_contact.c.phone)
    )
    query = sa.select(
        *(_E.entity_id, _E.type, _E.name, _E.status, _E.created_at, expires),
        *(sa.func.coalesce(contact, ""), sa.func.coalesce(phone, ""), admins, able),
    ).where(_E.entity_id > sa.bindparam("after"))
    if by_id:
        query = query.where(_E.entity_id == sa.bindparam("entity_id"))
    if by_type:
        query = query.where(_E.type == sa.bindparam("type"))
    if by_status:
        query = query.where(_E.status == sa.bindparam("status"))
    if without_admin:
        query = query.where(able == 0)
    if among:
        query = query.where(is_among_given(_E.entity_id, "among"))
    return query.order_by(_E.entity_id).limit(_LIMIT)


@cache
def _users(*, by_id: bool, by_state: bool, by_entity: bool, operators_only: bool) -> sa.Select[Any]:
    administers = _array(
        sa.select(_A.entity_id).where(_A.user_id == _U.user_id).order_by(_A.entity_id)
    )
    scopes = _array(sa.select(_O.scope).where(_O.user_id == _U.user_id).order_by(_O.scope))
    link = email_link.c
    invited = (
        sa.select(sa.func.max(link.expires_at))
        .where(link.user_id == _U.user_id, link.used_at.is_(None), link.voided_at.is_(None))
        .scalar_subquery()
    )
    app = sa.exists().where(totp_factor.c.user_id == _U.user_id)
    passkeys = sa.select(sa.func.count()).where(passkey.c.user_id == _U.user_id).scalar_subquery()
    query = sa.select(
        *(_U.user_id, _U.email, _U.name, _U.state, _U.created_at),
        *(invited, administers, scopes, app, passkeys, _U.signed_in_at),
    ).where(_U.email > sa.bindparam("after"))
    if by_id:
        query = query.where(sa.cast(_U.user_id, sa.Text) == sa.bindparam("user_id"))
    if by_state:
        query = query.where(_U.state == sa.bindparam("state"))
    if by_entity:
        query = query.where(
            sa.exists().where(_A.user_id == _U.user_id, _A.entity_id == sa.bindparam("entity_id"))
        )
    if operators_only:
        query = query.where(sa.exists().where(_O.user_id == _U.user_id))
    return query.order_by(_U.email).limit(_LIMIT)


_EXPIRING: Final = (
    sa.select(
        *(_E.entity_id, _E.name, _S.expires_at),
        sa.select(sa.func.max(secret_use.c.last_used_at))
        .where(secret_use.c.entity_id == _S.entity_id, secret_use.c.version == _S.version)
        .scalar_subquery(),
        _able(),
    )
    .join(entity_secret, _S.entity_id == _E.entity_id)
    .where(_S.state == "current", _S.expires_at < sa.bindparam("until"), _E.status == "active")
    .order_by(_S.expires_at, _E.entity_id)
    .limit(_LIMIT)
)
_ADDRESSES: Final = sa.select(sa.cast(_U.user_id, sa.Text), _U.email).where(
    sa.cast(_U.user_id, sa.Text).in_(sa.bindparam("user_ids", expanding=True))
)


class MemberSearch:
    """Lists members and users page by page; the next page begins after the key of the last row."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def members(self, which: MemberFilter, after: str, limit: int) -> Sequence[MemberRow]:
        """List members by entity ID."""
        query = _members(
            by_id=bool(which.entity_id),
            by_type=bool(which.entity_type),
            by_status=bool(which.status),
            without_admin=which.without_admin,
            among=which.among is not None,
        )
        query = query.where(*_have_words(which.text, _E.entity_id, _E.name))
        if which.named:
            named = sa.func.lower(which.named)
            query = query.where(
                sa.or_(sa.func.lower(_E.entity_id) == named, sa.func.lower(_E.name) == named)
            )
        values = {
            "after": after,
            "entity_id": which.entity_id,
            "type": which.entity_type,
            "status": which.status,
            "among": [*(which.among or ())],
            "limit": limit,
        }
        rows = await self._tx.connection.execute(query, values)
        return [
            MemberRow(r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], tuple(r[8]), r[9])
            for r in rows
        ]

    async def expiring(self, until: datetime, limit: int) -> Sequence[ExpiringSecret]:
        """List secrets of active members that expire before `until`, the first to expire first."""
        rows = await self._tx.connection.execute(_EXPIRING, {"until": until, "limit": limit})
        return [ExpiringSecret(*row) for row in rows]

    async def addresses(self, user_ids: Collection[str]) -> Mapping[str, str]:
        """Give the address of each of these users that exists."""
        rows = await self._tx.connection.execute(_ADDRESSES, {"user_ids": [*user_ids]})
        return {user_id: email for user_id, email in rows}  # noqa: C416  # rows are no pairs

    async def users(self, which: UserFilter, after: str, limit: int) -> Sequence[UserRow]:
        """List people by address."""
        query = _users(
            by_id=bool(which.user_id),
            by_state=bool(which.state),
            by_entity=bool(which.entity_id),
            operators_only=which.operators_only,
        )
        query = query.where(*_have_words(which.text, _U.email, _U.name))
        values = {
            "after": after,
            "user_id": which.user_id,
            "state": which.state,
            "entity_id": which.entity_id,
            "limit": limit,
        }
        rows = await self._tx.connection.execute(query, values)
        return [
            UserRow(
                *(r[0], r[1], r[2], r[3], r[4], r[5]),
                *(tuple(r[6]), tuple(r[7]), r[8], r[9], r[10]),
            )
            for r in rows
        ]


def _have_words(text: str, *columns: sa.Column[str]) -> list[sa.ColumnElement[bool]]:
    """Matches rows of which some column has each of these words."""
    return [
        sa.or_(*(column.icontains(word, autoescape=True) for column in columns))
        for word in text.split()
    ]
