"""Rights that people gave each other, as approvals ask for them (decision 0189)."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa

from mudra.audit.event import EventName, Outcome
from mudra.registry.lifecycle.grants import Grant
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event
from mudra.storage.tables.identity import access_grant, entity_admin
from mudra.storage.tables.tokens import entity_secret

_G: Final = access_grant.c
_A: Final = audit_event.c
_S: Final = entity_secret.c
_SHOWS_SECRET: Final = (EventName.ENTITY_SECRET_READ.value, EventName.ENTITY_SECRET_RESET.value)


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
