"""Token issues as a search of the audit shows them: those that wait, and those in blocks."""

import asyncio
from collections.abc import Sequence
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY

from mudra.audit.search import AuditFilter, AuditRow
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
from mudra.storage.tables.audit import audit_token_block, audit_token_issue

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
