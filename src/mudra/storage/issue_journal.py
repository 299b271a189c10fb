"""Audit of entity tokens, written behind in batches (docs/decisions/0002).

A round trip for each token would cost as much as its signature. Acts of the
same kind within a batch become one row that counts them and lists each token's
`jti`. At a regular stop nothing is lost; at a kill, at most the last second.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import structlog

from mudra.audit.event import Act, EventName
from mudra.storage.audit import EVENT_COLUMNS, event_row
from mudra.storage.database import Database, DatabaseUnavailable
from mudra.storage.row_batch import arrays, insert_arrays
from mudra.storage.secret_use import Used, add_uses
from mudra.storage.tables import audit_event
from mudra.storage.token_counts import add_counts
from mudra.storage.write_behind import WriteBehind

_EVERY_S: Final = 0.5
_MOST_GROUPS: Final = 50_000
_NOTE: Final = insert_arrays(audit_event, *EVENT_COLUMNS)

_log = structlog.get_logger()

_Key = tuple[str, str, str, str, int]


@dataclass
class _Group:
    act: Act
    count: int = 0
    jtis: list[str] = field(default_factory=list)


class BatchedIssueJournal:
    """Implements http/service.py IssueJournal."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._groups: dict[_Key, _Group] = {}
        self._behind = WriteBehind("issue-journal", _EVERY_S, self._write)
        self.lost = 0

    def note(self, act: Act, jti: str = "") -> None:
        """Note a token that was issued, or refused; it is stored within a second."""
        version = act.detail.get("version", 0)
        key = (act.event, act.caller.actor, act.caller.address, act.reason, int(version))
        group = self._groups.get(key)
        if group is None:
            if len(self._groups) >= _MOST_GROUPS:
                self.lost += 1
                return
            group = self._groups[key] = _Group(act)
        group.count += 1
        if jti:
            group.jtis.append(jti)

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
                rows = [event_row(_summed(group).at(at)) for group in batch.values()]
                await transaction.connection.execute(_NOTE, arrays(rows))
                uses = _uses(batch.values())
                await add_uses(transaction, uses, at)
                await add_counts(transaction, _by_entity(uses), at)
        except DatabaseUnavailable:
            self._take_back(batch)
            _log.warning("audit of entity tokens waits for the database", groups=len(batch))
        except Exception:
            self._take_back(batch)
            raise

    def _take_back(self, batch: dict[_Key, _Group]) -> None:
        for key, group in batch.items():
            kept = self._groups.get(key)
            if kept is None:
                self._groups[key] = group
            else:
                kept.count += group.count
                kept.jtis[:0] = group.jtis


def _uses(groups: Iterable[_Group]) -> list[Used]:
    return [
        Used(
            entity_id=group.act.entity_id,
            version=int(group.act.detail["version"]),
            address=group.act.caller.address,
            count=group.count,
            in_grace=group.act.reason == "grace",
        )
        for group in groups
        if group.act.event is EventName.ENTITY_TOKEN_ISSUE
    ]


def _by_entity(uses: Iterable[Used]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for use in uses:
        counts[use.entity_id] += use.count
    return counts


def _summed(group: _Group) -> Act:
    detail: dict[str, str | int] = {**group.act.detail, "count": group.count}
    if group.jtis:
        detail["jtis"] = " ".join(group.jtis)
    act = group.act
    return replace(act, detail=detail)
