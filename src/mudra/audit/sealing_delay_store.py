"""The time for which events have waited for their seal, and what holds sealing back."""

from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.audit.horizon_store import oldest_writer
from mudra.storage.database.transaction import Transaction

_LAST: Final = sa.text(
    "SELECT e.xid::text AS xid, e.seq, (SELECT max(seq) FROM audit_seal) AS newest"
    " FROM audit_seal s JOIN audit_event e USING (seq) ORDER BY s.number DESC LIMIT 1"
)
_NOTHING: Final = {"xid": "0", "seq": 0, "newest": 0}
_OLDEST: Final = sa.text(
    "SELECT least((SELECT min(at) FROM audit_token_issue),"
    " (SELECT min(at) FROM (SELECT e.at FROM audit_event e"
    " WHERE (e.xid, e.seq) > (cast(cast(:xid AS text) AS xid8), :seq)"
    " AND e.xid < pg_snapshot_xmax(pg_current_snapshot())"
    " AND (SELECT s.number FROM audit_seal s WHERE s.seq = e.seq) IS NULL"
    " ORDER BY e.xid, e.seq LIMIT 1000) behind),"
    " (SELECT min(at) FROM"
    " (SELECT at FROM audit_event WHERE seq > :newest ORDER BY seq LIMIT 1000) newer))"
)
"""Events of the cluster that sealed last, and events of one after it (decision 0090)."""


class SealingDelay(Struct, frozen=True):
    """The age of the oldest event without seal or block, and what transaction holds it back."""

    seconds: float
    held_by: str


async def sealing_delay(transaction: Transaction) -> SealingDelay:
    """Measure by the service's clock; 0 when nothing waits."""
    last = (await transaction.connection.execute(_LAST)).mappings().first()
    oldest = await transaction.connection.scalar(_OLDEST, dict(last or _NOTHING))
    if oldest is None:
        return SealingDelay(0, "")
    seconds = max(0.0, (await transaction.now() - oldest).total_seconds())
    return SealingDelay(seconds, await oldest_writer(transaction.connection))
