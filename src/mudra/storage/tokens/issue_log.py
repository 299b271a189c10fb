"""Audit of entity tokens, written behind in batches (docs/decisions/0002).

A round trip for each token would cost as much as its signature. What an entity gets
within a batch by the same credential becomes one row with each token's `jti`, which is packed
later (decision 0087); refusals are counted. A regular stop loses nothing; a kill loses at most
the last second.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import structlog

from mudra.audit.event import AuditEvent, EventName, Outcome
from mudra.audit.token_issues import GRACE, SECRET, TokenIssue
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.audit.anonymous import ANONYMOUS, count_anonymous, is_anonymous
from mudra.storage.audit.event_rows import EVENT_COLUMNS, event_row
from mudra.storage.audit.token_issues import add_issues
from mudra.storage.caching.write_behind import WriteBehind
from mudra.storage.database.bulk_insert import bulk_insert, parameter_of
from mudra.storage.database.database import Database, Transaction
from mudra.storage.database.tables import audit_event
from mudra.storage.tokens.secret_use import Used, add_uses
from mudra.storage.tokens.token_counts import add_counts

_EVERY_S: Final = 0.5
_MAX_GROUPS: Final = 50_000
_INSERT: Final = bulk_insert(audit_event, *EVENT_COLUMNS)
_NO_VERSION: Final = 0

_log = structlog.get_logger()

_Key = tuple[str, str, str, int]
"""Entity, address, reason, version of the secret; no version for what was refused."""


@dataclass(slots=True)
class _Group:
    """Equal events within a batch; `txn_id` is that of the first."""

    txn_id: str
    count: int = 0
    jtis: list[str] = field(default_factory=list)


class BatchedIssueLog:
    """Implements tokens/ports.py EntityTokenLog."""

    def __init__(
        self, database: Database, count_refused: Callable[[str], None] = lambda _: None
    ) -> None:
        self._database = database
        self._count_refused = count_refused
        self._groups: dict[_Key, _Group] = {}
        self._behind = WriteBehind("issue-log", _EVERY_S, self._write)
        self.lost = 0

    def issued(  # each argument is one fact of the record
        self, entity_id: str, address: str, txn_id: str, *, version: int, in_grace: bool, jti: str
    ) -> None:
        """Record a token that was issued; it is stored within a second."""
        reason = GRACE if in_grace else ""
        group = self._group((entity_id, address, reason, version), txn_id)
        if group is not None:
            group.count += 1
            group.jtis.append(jti)

    def refused(self, entity_id: str, address: str, txn_id: str, reason: str) -> None:
        """Record a refused secret; `entity_id` is empty when there is no such entity."""
        self._count_refused(reason)
        group = self._group((entity_id, address, reason, _NO_VERSION), txn_id)
        if group is not None:
            group.count += 1

    def _group(self, key: _Key, txn_id: str) -> _Group | None:
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= _MAX_GROUPS:
                self.lost += 1
                return None
            group = self._groups[key] = _Group(txn_id)
            self._behind.due()
        return group

    def start(self) -> None:
        """Write batches from now on."""
        self._behind.start()

    async def stop(self) -> None:
        """Write what is left."""
        await self._behind.stop()

    async def _write(self) -> None:
        if not self._groups:
            return
        batch, self._groups = self._groups, {}
        try:
            async with self._database.transaction() as transaction:
                at = await transaction.now()
                await _record(transaction, batch.items(), at)
                uses = _uses(batch.items())
                await add_uses(transaction, uses, at)
                await add_counts(transaction, _by_entity(uses), at)
        except DatabaseUnavailable as error:
            self._requeue(batch)
            _log.warning(
                "audit of entity tokens waits for the database",
                groups=len(batch),
                cause=error.cause,
            )
        except Exception:
            self._requeue(batch)
            raise

    def _requeue(self, batch: dict[_Key, _Group]) -> None:
        self._behind.due()
        for key, group in batch.items():
            existing = self._groups.get(key)
            if existing is None:
                self._groups[key] = group
            else:
                existing.count += group.count
                existing.jtis[:0] = group.jtis


async def _record(
    transaction: Transaction, batch: Collection[tuple[_Key, _Group]], at: datetime
) -> None:
    issues = [_issue(key, group, at) for key, group in batch if key[3] != _NO_VERSION]
    refusals = [_refusal(key, group, at) for key, group in batch if key[3] == _NO_VERSION]
    known = [event_row(one) for one in refusals if one.entity_id]
    unknown = [one for one in refusals if is_anonymous(one.actor, one.entity_id, "")]
    if issues:
        await add_issues(transaction, issues, at)
    if known:
        await transaction.connection.execute(_INSERT, parameter_of(known))
    await count_anonymous(transaction, unknown)


def _uses(batch: Iterable[tuple[_Key, _Group]]) -> list[Used]:
    return [
        Used(entity_id, version, address, group.count, reason == GRACE)
        for (entity_id, address, reason, version), group in batch
        if version != _NO_VERSION
    ]


def _by_entity(uses: Iterable[Used]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for use in uses:
        counts[use.entity_id] += use.count
    return counts


def _issue(key: _Key, group: _Group, at: datetime) -> TokenIssue:
    entity_id, address, reason, version = key
    credential = GRACE if reason == GRACE else SECRET
    jtis = tuple(group.jtis)
    return TokenIssue(0, at, entity_id, address, group.txn_id, credential, version, jtis)


def _refusal(key: _Key, group: _Group, at: datetime) -> AuditEvent:
    entity_id, address, reason, _ = key
    return AuditEvent(
        event=EventName.ENTITY_TOKEN_REFUSE,
        outcome=Outcome.REFUSED,
        at=at,
        actor=f"entity:{entity_id}" if entity_id else ANONYMOUS,
        txn_id=group.txn_id,
        entity_id=entity_id,
        address=address,
        reason=reason,
        detail={"count": group.count},
    )
