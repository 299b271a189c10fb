"""The audit log in PostgreSQL."""

from datetime import UTC, datetime
from typing import Final

import sqlalchemy as sa

from mudra.audit.anonymous_store import count_anonymous, is_anonymous
from mudra.audit.event import AuditEntry, EventName
from mudra.audit.event_rows import event_row
from mudra.audit.token_issue_store import add_issues
from mudra.audit.token_issues import TokenIssue
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.audit import audit_event

_STAMPED_BY_THE_DATABASE: Final = datetime.min.replace(tzinfo=UTC)
_APPEND: Final = sa.insert(audit_event).values(
    at=sa.func.clock_timestamp() + sa.bindparam("offset", type_=sa.Interval)
)


class AuditLog:
    """Appends entries in the transaction of the action itself."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def append(self, entry: AuditEntry) -> None:
        """Append an entry at the database's time; what concerns no one known is counted.

        Issued entity tokens have a form of their own (decision 0002).
        """
        if entry.event is EventName.ENTITY_TOKEN_ISSUE:
            await add_issues(self._tx, [TokenIssue.of(entry)])
            return
        if is_anonymous(entry.caller.actor, entry.entity_id, entry.user_id):
            await count_anonymous(self._tx, [entry.at(await self._tx.now())])
            return
        row = event_row(entry.at(_STAMPED_BY_THE_DATABASE))
        del row["at"]
        row["offset"] = self._tx.offset
        await self._tx.connection.execute(_APPEND, row)
