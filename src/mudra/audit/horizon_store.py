"""The transactions of this database that may still add rows: the sealer goes no further.

PostgreSQL's own `pg_snapshot_xmin` counts transactions of all databases of the cluster: a
long one in another database would stop sealing.
"""

from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

from mudra.storage.database.transaction import Transaction

_WRAP: Final = 1 << 32
_NEXT: Final = sa.text(
    # The second one lets the list of open ones be read afresh by the statement after this one.
    "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint, pg_stat_clear_snapshot()"
)
_OPEN: Final = sa.text(
    "SELECT xid FROM audit_open_writers()"
    " UNION ALL SELECT transaction::text::bigint FROM pg_prepared_xacts"
    " WHERE database = current_database()"
)
_OLDEST: Final = sa.text(
    "SELECT format('process %s of %s (%s), open since %s', pid, role,"
    " coalesce(nullif(program, ''), 'no name'), begun) FROM audit_open_writers()"
    " WHERE pid <> pg_backend_pid() ORDER BY age(xid::text::xid) DESC LIMIT 1"
)


class Horizon(Struct, frozen=True):
    """Transactions of this database before `open_from` have ended; `next_xid` has not begun."""

    open_from: int
    next_xid: int


async def read_horizon(connection: AsyncConnection) -> Horizon:
    """Ask for open transactions. Rows must be read by a later statement, which sees their ends.

    In this order: what was open when the next number was read is still on the list, or ended.
    """
    next_xid = int(await connection.scalar(_NEXT) or 0)
    rows = await connection.execute(_OPEN)
    return Horizon(min([next_xid, *(_full(row[0], next_xid) for row in rows)]), next_xid)


async def oldest_writer(connection: AsyncConnection) -> str:
    """Name the transaction of this database that holds sealing back; empty when none is open."""
    return str(await connection.scalar(_OLDEST) or "")


def _full(xid: int, near: int) -> int:
    """Extend a number of 32 bits to the one nearest to another of 64 bits."""
    full = near - near % _WRAP + xid
    if full > near + _WRAP // 2:
        return full - _WRAP
    return full + _WRAP if full < near - _WRAP // 2 else full


_LAST: Final = sa.text(
    "SELECT e.xid::text AS xid, e.seq, (SELECT max(seq) FROM audit_seal) AS newest"
    " FROM audit_seal s JOIN audit_event e USING (seq) ORDER BY s.number DESC LIMIT 1"
)
_NOTHING: Final = {"xid": "0", "seq": 0, "newest": 0}
_OLDEST_EVENT: Final = sa.text(
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
    oldest = await transaction.connection.scalar(_OLDEST_EVENT, dict(last or _NOTHING))
    if oldest is None:
        return SealingDelay(0, "")
    seconds = max(0.0, (await transaction.now() - oldest).total_seconds())
    return SealingDelay(seconds, await oldest_writer(transaction.connection))
