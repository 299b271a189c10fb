"""The transactions of this database that may still add rows: the sealer goes no further.

PostgreSQL's own `pg_snapshot_xmin` counts transactions of all databases of the cluster: a
long one in another database would stop sealing.
"""

from typing import Final

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncConnection

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
