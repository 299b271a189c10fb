"""When to heed notes of what is stale: what is live at once, what comes late in one go.

After an outage the windows of an hour come one by one, of every AA, and each would have the
same sums made again. So what is long over waits until nothing more of it came for a while, or
until it has waited long (0043). Pictures do not wait: raw rows stand in for stale sums.
"""

from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from mudra.storage.metrics.tables import metrics_stale

LIVE: Final = timedelta(hours=2)
"""Hours and windows that began since then are live."""
QUIET: Final = timedelta(seconds=20)
MAX_LENGTH: Final = timedelta(minutes=2)
MAX_OF_MANY: Final = timedelta(minutes=10)
"""For what is made of the sums of many: days, and the sums over all AAs."""
COMPLETE: Final = datetime.fromisoformat("1970-01-01T00:00Z")
"""`noted_at` of what is stored whole, so that there is nothing to wait for."""
_STALE: Final = metrics_stale.c


def ripe(notes: sa.Subquery) -> sa.ColumnElement[bool]:
    """Of grouped notes: whether to heed them now.

    Needs the columns `live` and `longest` beside `noted_at`.
    """
    c, now = notes.c, sa.func.now()
    return sa.or_(
        sa.func.bool_or(c.live),
        sa.func.max(c.noted_at) <= now - sa.literal(QUIET),
        sa.func.min(c.noted_at) <= now - sa.func.min(c.longest),
    )
