"""The condition by which stale marks are handled now, explained in metrics/rollup/stale.py."""

import sqlalchemy as sa

from mudra.metrics.rollup.stale import QUIET


def is_due(marks: sa.Subquery) -> sa.ColumnElement[bool]:
    """Returns whether grouped marks are handled now.

    Needs the columns `live` and `max_delay` next to `noted_at`.
    """
    c, now = marks.c, sa.func.now()
    return sa.or_(
        sa.func.bool_or(c.live),
        sa.func.max(c.noted_at) <= now - sa.literal(QUIET),
        sa.func.min(c.noted_at) <= now - sa.func.min(c.max_delay),
    )
