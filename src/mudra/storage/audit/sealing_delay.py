"""How long events have waited for their seal, and what holds sealing back."""

from typing import Final

import sqlalchemy as sa
from msgspec import Struct

from mudra.storage.audit.horizon import oldest_writer
from mudra.storage.database.database import Transaction

_OLDEST: Final = sa.text(
    "WITH newest AS (SELECT s.epoch, e.xid, e.seq FROM audit_seal s"
    " JOIN audit_event e USING (seq) ORDER BY s.number DESC LIMIT 1), last AS"
    " (SELECT * FROM newest WHERE epoch = (SELECT max(number) FROM audit_epoch))"
    " SELECT least((SELECT min(at) FROM audit_token_issue),"
    " (SELECT min(at) FROM (SELECT e.at FROM audit_event e LEFT JOIN audit_seal s USING (seq)"
    " WHERE s.seq IS NULL AND (e.xid, e.seq) > (coalesce((SELECT xid FROM last), '0'::xid8),"
    " coalesce((SELECT seq FROM last), 0)) ORDER BY e.xid, e.seq LIMIT 1000) waiting))"
)


class SealingDelay(Struct, frozen=True):
    """The age of the oldest event without seal or block, and what transaction holds it back."""

    seconds: float
    held_by: str


async def sealing_delay(transaction: Transaction) -> SealingDelay:
    """Measure by the service's clock; 0 when nothing waits."""
    oldest = await transaction.connection.scalar(_OLDEST)
    if oldest is None:
        return SealingDelay(0, "")
    seconds = max(0.0, (await transaction.now() - oldest).total_seconds())
    return SealingDelay(seconds, await oldest_writer(transaction.connection))
