"""Which other entity holds a value that is unique over the registry, as `Facts` has it."""

import datetime as dt
from typing import Final

import sqlalchemy as sa

from mudra.registry.lifecycle.decision import HANDLE_STAYS_AFTER, Facts
from mudra.registry.payload.entry import Entry
from mudra.registry.payload.fields.certificate import KeyFacts
from mudra.shared.entity_type import EntityType
from mudra.shared.entry_status import EntityStatus
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.identity import entity
from mudra.storage.tables.registry import (
    HAD_HANDLE,
    HAS_HANDLE,
    HOLDS,
    IS_LIVE,
    registry_entity,
    registry_version,
)

_V: Final = registry_version.c
_MOST_SEEN: Final = 10_000
"""Versions with a handle that are added up, the latest: only who has it can make so many."""


async def read_facts(
    transaction: Transaction, entry: Entry, key: KeyFacts, now: dt.datetime
) -> Facts:
    """Return which other entities hold the entry's handle, `kid` and modulus."""
    own, handle = entry.entityinfo.id, entry.entityinfo.entityhandle
    row = (
        await transaction.connection.execute(
            sa.select(
                sa.select(entity.c.type).where(entity.c.entity_id == own).scalar_subquery(),
                _handle_holder(own, handle, now) if handle else sa.null(),
                _holder(own, _V.kid == key.kid),
                _holder(own, _V.modulus_hash == key.modulus_hash),
            )
        )
    ).one()
    onboarded_as, handle_holder, kid_holder, modulus_holder = row
    return Facts(
        onboarded_as=EntityType(onboarded_as) if onboarded_as else None,
        handle_holder=handle_holder or "",
        kid_holder=kid_holder or "",
        modulus_holder=modulus_holder or "",
    )


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
