"""Room for one more sign-in among those that wait, when as many wait as may."""

import sqlalchemy as sa


def oldest_of_busiest(table: sa.Table, waits: sa.ColumnElement[bool]) -> sa.Delete:
    """Delete the oldest of the rows that wait of the network address that has the most of them.

    `table` has the columns `holder`, `address` and `expires_at`.
    """
    c = table.c
    busiest = (
        sa.select(c.address)
        .where(waits)
        .group_by(c.address)
        .order_by(sa.func.count().desc(), sa.func.min(c.expires_at))
        .limit(1)
        .scalar_subquery()
    )
    oldest = (
        sa.select(c.holder)
        .where(waits, c.address == busiest)
        .order_by(c.expires_at)
        .limit(1)
        # Of two at once each takes another row, and none waits.
        .with_for_update(skip_locked=True)
        .scalar_subquery()
    )
    return sa.delete(table).where(waits, c.holder == oldest)
