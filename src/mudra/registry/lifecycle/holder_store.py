"""Facts for approvals: who holds a unique value (`Facts`), and who gave whom a right."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from mudra.audit.event import EventName, Outcome
from mudra.identity.accounts.user import UserState
from mudra.identity.operators.operator import Scope
from mudra.registry.lifecycle.decision import HANDLE_STAYS_AFTER, Facts
from mudra.registry.lifecycle.grants import Grant
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.registry.payload.fields.likeness import likeness
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event
from mudra.storage.tables.identity import (
    access_grant,
    entity,
    entity_admin,
    operator_scope,
    user_account,
)
from mudra.storage.tables.registry import (
    HAD_HANDLE,
    HAS_HANDLE,
    HAS_NAME,
    HOLDS,
    IS_LIVE,
    registry_entity,
    registry_version,
)
from mudra.storage.tables.tokens import entity_secret

_V: Final = registry_version.c
_MOST_SEEN: Final = 10_000
"""Versions with a handle that are added up, the latest: only who has it can make so many."""

_DECIDERS: Final = (
    sa.select(sa.func.count())
    .select_from(operator_scope)
    .join(user_account, user_account.c.user_id == operator_scope.c.user_id)
    .where(
        operator_scope.c.scope == Scope.REGISTRY.value,
        user_account.c.state == UserState.ACTIVE.value,
    )
    .scalar_subquery()
)
_G: Final = access_grant.c
_A: Final = audit_event.c
_S: Final = entity_secret.c
_SHOWS_SECRET: Final = (EventName.ENTITY_SECRET_READ.value, EventName.ENTITY_SECRET_RESET.value)


async def read_facts(
    transaction: Transaction, entry: Entry, key: KeyFacts, now: dt.datetime
) -> Facts:
    """Return which other entities hold the entry's handle, `kid`, modulus, name and code."""
    own, handle = entry.entityinfo.id, entry.entityinfo.entityhandle
    row = (
        await transaction.connection.execute(
            sa.select(
                sa.select(entity.c.type).where(entity.c.entity_id == own).scalar_subquery(),
                _handle_holder(own, handle, now) if handle else sa.null(),
                _holder(own, _V.kid == key.kid),
                _holder(own, _V.modulus_hash == key.modulus_hash),
                sa.select(entity.c.onboarded_by).where(entity.c.entity_id == own).scalar_subquery(),
                _DECIDERS,
            )
        )
    ).one()
    onboarded_as, handle_holder, kid_holder, modulus_holder, onboarded_by, deciders = row
    name, code = likeness(entry.entityinfo.name), likeness(entry.entityinfo.code)
    return Facts(
        onboarded_as=EntityType(onboarded_as) if onboarded_as else None,
        handle_holder=handle_holder or "",
        kid_holder=kid_holder or "",
        modulus_holder=modulus_holder or "",
        name_holder=await _look_alike(transaction, own, _V.name_likeness, name),
        code_holder=await _look_alike(transaction, own, _V.code_likeness, code),
        onboarded_by=f"user:{onboarded_by}" if onboarded_by else "",
        deciders=deciders,
    )


async def _look_alike(
    transaction: Transaction, own: str, column: sa.ColumnElement[str], looks: str
) -> str:
    """Return another entity of which live entries say the same; empty where the entry has it.

    Members that the operator onboarded by one name are one to it, such as a bank that is a FIP
    and a FIU: it vouched for both.
    """
    rows = await transaction.connection.execute(
        sa.select(_V.entity_id, _name_of(_V.entity_id))
        .where(column == looks, HAS_NAME)
        .order_by(_V.entity_id)
    )
    held = {one[0]: one[1] for one in rows}
    if own in held or not held:
        return ""
    own_name = await transaction.connection.scalar(sa.select(_name_of(sa.literal(own))))
    vouched = likeness(own_name) if own_name else None
    return next(
        (one for one, name in held.items() if vouched is None or likeness(name or "") != vouched),
        "",
    )


def _name_of(entity_id: sa.ColumnElement[str]) -> sa.ScalarSelect[str]:
    return sa.select(entity.c.name).where(entity.c.entity_id == entity_id).scalar_subquery()


def _holder(own: str, same: sa.ColumnElement[bool]) -> sa.ColumnElement[str]:
    # The entity's own versions may be very many: those before and after it are looked up.
    others = (_V.entity_id < own, _V.entity_id > own)
    found = [sa.select(_V.entity_id).where(same, HOLDS, other) for other in others]
    return sa.func.coalesce(
        *(one.order_by(_V.entity_id).limit(1).scalar_subquery() for one in found)
    )


def _handle_holder(own: str, handle: str, now: dt.datetime) -> sa.ColumnElement[str]:
    # People type it: its case makes no other handle.
    same = sa.func.lower(_V.entityhandle) == handle.lower()
    has = sa.select(_V.entity_id).where(_V.entity_id != own, same, HAS_HANDLE)
    had = (
        sa.select(_V.entity_id, _V.live_from, _V.live_until)
        .where(same, HAD_HANDLE)
        .order_by(_V.live_from.desc())
        .limit(_MOST_SEEN)
        .subquery()
    )
    until = sa.func.coalesce(had.c.live_until, sa.literal(now, sa.TIMESTAMP(timezone=True)))
    in_all = sa.func.sum(until - had.c.live_from, type_=sa.Interval())
    stays = (
        sa.select(had.c.entity_id)
        .join(registry_entity, registry_entity.c.entity_id == had.c.entity_id)
        .where(had.c.entity_id != own)
        .group_by(had.c.entity_id, registry_entity.c.status)
        .having(
            sa.or_(
                registry_entity.c.status == EntityStatus.RETIRED.value,
                in_all >= sa.literal(HANDLE_STAYS_AFTER, sa.Interval()),
            )
        )
    )
    # Who has it live got it while no one held it: most updates need no sum.
    is_own = sa.exists().where(_V.entity_id == own, same, IS_LIVE)
    first = stays.order_by(had.c.entity_id).limit(1).scalar_subquery()
    return sa.func.coalesce(
        has.order_by(_V.entity_id).limit(1).scalar_subquery(),
        sa.case((is_own, sa.null()), else_=first),
    )


async def read_grants(
    transaction: Transaction, entity_id: str, after: dt.datetime
) -> Sequence[Grant]:
    """Return the operators' and the entity's grants after a time.

    And those of former admins who read a secret that is still valid, whenever they were given.
    """
    valid = sa.or_(
        _S.state == "current",
        sa.and_(_S.state == "grace", _S.grace_until > transaction.this_moment),
    )
    valid_since = sa.select(sa.func.min(_S.created_at)).where(_S.entity_id == entity_id, valid)
    is_admin = sa.exists().where(
        entity_admin.c.entity_id == _G.entity_id, entity_admin.c.user_id == _G.user_id
    )
    was_shown = sa.exists().where(
        _A.entity_id == _G.entity_id,
        _A.event.in_(_SHOWS_SECRET),
        _A.outcome == Outcome.SUCCESS.value,
        _A.actor == sa.literal("user:") + sa.cast(_G.user_id, sa.Text),
        _A.at >= valid_since.scalar_subquery(),
    )
    knows_secret = sa.and_(_G.entity_id == entity_id, ~is_admin, was_shown)
    rows = await transaction.connection.execute(
        sa.select(_G.user_id, _G.given_by, _G.at, _G.entity_id, knows_secret).where(
            _G.entity_id.in_(["", entity_id]), sa.or_(_G.at > after, knows_secret)
        )
    )
    return [Grant(f"user:{one[0]}", f"user:{one[1]}", *one[2:]) for one in rows]
