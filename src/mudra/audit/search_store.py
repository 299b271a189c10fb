"""The audit as an operator searches it: by page, the newest first."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from mudra.audit.event import EventName, Outcome
from mudra.audit.place import TOLERANCE
from mudra.audit.search import AT, OPERATOR, ActedBy, AuditFilter, AuditRow, TokensOfDay
from mudra.audit.token_issue_store import block_of, issue_of
from mudra.audit.token_issues import (
    TokenBlock,
    TokenIssue,
    entities_of,
    mark_of,
    matches,
    may_be_issue,
)
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import (
    audit_checkpoint,
    audit_event,
    audit_seal,
    audit_token_block,
    audit_token_issue,
)
from mudra.storage.tables.identity import user_account
from mudra.storage.tables.tokens import token_day


def conditions(which: AuditFilter) -> Sequence[sa.ColumnElement[bool]]:
    """Give what an event must meet to be one of these."""
    c = audit_event.c
    equal = (
        (c.outcome, which.outcome),
        (c.entity_id, which.entity_id),
        (c.txn_id, which.txn_id),
    )
    found = [column == wanted for column, wanted in equal if wanted]
    if which.actor:
        found.append(_by(which.actor))
    if which.by is not None:
        found.append(_acted(which.by))
    if which.event.endswith("*"):
        found.append(c.event.startswith(which.event[:-1], autoescape=True))
    elif which.event:
        found.append(c.event == which.event)
    if which.user_id:
        person = f"user:{which.user_id}"
        found.append(sa.or_(c.actor == person, c.detail["user"].astext == which.user_id))
    if which.jti:
        found.append(c.detail["jti"].astext == which.jti)
    if which.since is not None:
        found += [c.at >= which.since, c.seq > last_before(which.since)]
    if which.until is not None:
        found.append(c.at < which.until)
    return found


def last_before(since: datetime | sa.ColumnElement[datetime]) -> sa.ColumnElement[int]:
    """Return a number that every event since then is greater than: 0, or one of not long before.

    The events that a checkpoint counts were there when it was made. No index has their times.
    """
    p, s = audit_checkpoint.c, audit_seal.c
    count = (
        sa.select(p["count"])
        .where(p.at + sa.literal(TOLERANCE, sa.Interval) < since)
        .order_by(p.epoch.desc(), p["count"].desc())
        .limit(1)
    )
    sealed = sa.select(s.seq).where(s.number == count.scalar_subquery())
    return sa.func.coalesce(sealed.scalar_subquery(), 0)


def _tokens_by_day() -> sa.Select[date, int, int]:
    c, t = audit_event.c, token_day.c
    entity_id = sa.bindparam("entity_id", type_=sa.Text)
    since = sa.bindparam("since", type_=sa.TIMESTAMP(timezone=True))
    day = sa.cast(sa.func.timezone("UTC", c.at), sa.Date).label("day")
    refused = (
        sa.select(day, sa.func.coalesce(c.detail["count"].as_integer(), 1).label("count"))
        .where(c.entity_id == entity_id, c.at >= since, c.seq > last_before(since))
        .where(c.event == EventName.ENTITY_TOKEN_REFUSE.value)
        .subquery()
    )
    none = sa.literal(0, sa.BigInteger)
    issued = sa.select(t.day, t["count"].label("issued"), none.label("refused")).where(
        t.entity_id == entity_id, t.day >= sa.bindparam("first_day")
    )
    both = issued.union_all(sa.select(refused.c.day, none, refused.c["count"])).subquery()
    return (
        sa.select(both.c.day, sa.func.sum(both.c.issued), sa.func.sum(both.c.refused))
        .group_by(both.c.day)
        .order_by(both.c.day.desc())
    )


_TOKENS_BY_DAY: Final = _tokens_by_day()


async def times_of_admins(
    transaction: Transaction,
    event: EventName,
    entity_id: str,
    since: datetime,
    *also: sa.ColumnElement[bool],
) -> Sequence[datetime]:
    """Return when people of an entity did this to it since then, and were not refused."""
    c = audit_event.c
    found = await transaction.connection.scalars(
        sa.select(c.at).where(
            *(c.entity_id == entity_id, c.at > since, c.seq > last_before(since)),
            *(c.event == event.value, c.outcome == Outcome.SUCCESS.value),
            c.actor.startswith("user:"),
            *also,
        )
    )
    return found.all()


def _acted(by: ActedBy) -> sa.ColumnElement[bool]:
    """Return who acted, as `ActedBy.has` says it of one row."""
    c = audit_event.c
    found = [c.actor.startswith(one, autoescape=True) for one in by.prefixes]
    by_operator = c.actor.startswith(OPERATOR, autoescape=True)
    if by is ActedBy.PEOPLE:
        found.append(sa.and_(by_operator, c.actor.contains(AT)))
    elif by is ActedBy.PROGRAMS:
        found.append(sa.and_(by_operator, sa.not_(c.actor.contains(AT))))
    return sa.or_(*found)


def _by(actor: str) -> sa.ColumnElement[bool]:
    """Return who acted, as the row has it; the address of a person matches all their names."""
    c, u = audit_event.c, user_account.c
    if "@" not in actor or ":" in actor:
        return c.actor == actor
    person = sa.literal("user:") + sa.cast(u.user_id, sa.Text)
    own = sa.select(person).where(sa.func.lower(u.email) == actor.lower())
    as_operator = [actor, f"operator:{actor}", f"operator:{actor.lower()}"]
    return sa.or_(c.actor.in_(as_operator), c.actor.in_(own))


class AuditSearch:
    """Reads the audit log; nothing here changes it."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def tokens_by_day(self, entity_id: str, since: datetime) -> Sequence[TokensOfDay]:
        """Count an entity's issued and refused tokens by day (UTC), the newest day first."""
        rows = await self._tx.connection.execute(
            _TOKENS_BY_DAY,
            {
                "entity_id": entity_id,
                "since": since,
                "first_day": since.astimezone(UTC).date(),
            },
        )
        return [
            TokensOfDay(datetime.combine(day, time(), UTC), int(issued), int(refused))
            for day, issued, refused in rows
        ]

    async def events(
        self, which: AuditFilter, before: int | None, limit: int
    ) -> Sequence[AuditRow]:
        """List events and issued tokens that come before the one numbered `before`."""
        c = audit_event.c
        query = sa.select(
            *(c.seq, c.at, c.event, c.outcome, c.actor, c.entity_id),
            *(c.address, c.txn_id, c.reason, c.detail),
        ).where(*conditions(which))
        if before is not None:
            query = query.where(c.seq < before)
        rows = await self._tx.connection.execute(query.order_by(c.seq.desc()).limit(limit))
        events = [AuditRow(*tuple(row)) for row in rows]
        tokens = await token_rows(self._tx, which, before, limit)
        return sorted([*events, *tokens], key=lambda row: -row.seq)[:limit]


_BLOCKS: Final = 16
"""Read at once: a page is in the first one mostly."""


async def token_rows(
    transaction: Transaction, which: AuditFilter, before: int | None, limit: int
) -> Sequence[AuditRow]:
    """List the newest issues that come before the one numbered `before`."""
    if not may_be_issue(which):
        return []
    # In this order, by number: what is packed meanwhile is in both, and not in neither.
    found = {i.seq: i for i in await _waiting(transaction, which, before, limit)}
    last: int | None = None
    while True:
        blocks = await _blocks(transaction, which, before, last)
        if blocks:
            last = blocks[-1].last_seq
            # Reading a block takes a millisecond: other requests go on meanwhile.
            issues = await asyncio.to_thread(_matching, blocks, which, before)
            found |= {issue.seq: issue for issue in issues}
        newest = sorted(found.values(), key=lambda issue: -issue.seq)[:limit]
        full = len(newest) == limit and last is not None and newest[-1].seq > last
        if len(blocks) < _BLOCKS or full:
            return [issue.row() for issue in newest]


async def _waiting(
    transaction: Transaction, which: AuditFilter, before: int | None, limit: int
) -> Sequence[TokenIssue]:
    c = audit_token_issue.c
    query = sa.select(audit_token_issue).where(*[c.entity_id == e for e in entities_of(which)])
    if which.txn_id:
        query = query.where(c.txn_id == which.txn_id)
    if which.jti:
        query = query.where(c.jtis.contains(which.jti, autoescape=True))
    if which.since is not None:
        query = query.where(c.at >= which.since)
    if which.until is not None:
        query = query.where(c.at < which.until)
    if before is not None:
        query = query.where(c.seq < before)
    rows = await transaction.connection.execute(query.order_by(c.seq.desc()).limit(limit))
    return [issue for issue in map(issue_of, rows) if matches(which, issue)]


async def _blocks(
    transaction: Transaction, which: AuditFilter, before: int | None, last: int | None
) -> Sequence[TokenBlock]:
    c = audit_token_block.c
    query = sa.select(audit_token_block)
    if entities := entities_of(which):
        query = query.where(c.entities.contains(sa.literal(sorted(entities), ARRAY(sa.Text))))
    for text in (which.txn_id, which.jti):
        if text:
            query = query.where(sa.literal(mark_of(text), sa.Integer) == sa.any_(c.marks))
    if which.since is not None:
        query = query.where(c.last_at >= which.since)
    if which.until is not None:
        query = query.where(c.first_at < which.until)
    if before is not None:
        query = query.where(c.first_seq < before)
    if last is not None:
        query = query.where(c.last_seq < last)
    rows = await transaction.connection.execute(query.order_by(c.last_seq.desc()).limit(_BLOCKS))
    return [block_of(row) for row in rows]


def _matching(
    blocks: Sequence[TokenBlock], which: AuditFilter, before: int | None
) -> Sequence[TokenIssue]:
    return [
        issue
        for block in blocks
        for issue in block.issues()
        if (before is None or issue.seq < before) and matches(which, issue)
    ]
