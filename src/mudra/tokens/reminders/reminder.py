"""When to remind a member that its secret expires (decisions 3; quality S9). Pure.

30, 14, 7, 3 and 1 days before, and once after. Each once: of those missed
while the service was down only the most urgent is sent, since five letters of
one morning help nobody, and the others count as done.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

DAYS_BEFORE: Final = (30, 14, 7, 3, 1)
AFTER_EXPIRY: Final = 0
"""The mark of the one letter that goes out once the secret has expired."""
_MARKS: Final = (*DAYS_BEFORE, AFTER_EXPIRY)


class Reminder(Struct, frozen=True):
    """Marks to store as done, and the one of them, if any, for which a letter goes out.

    A mark is the number of days before expiry, or AFTER_EXPIRY.
    """

    send: int | None
    done: frozenset[int]


NOTHING_DUE: Final = Reminder(None, frozenset())


def reminder_due(
    *, made_at: datetime, expires_at: datetime, done: Collection[int], now: datetime
) -> Reminder:
    """Tell what is due at `now` for a secret made and expiring at these times.

    A day that lies at or before the making of the secret is none: who resets
    for 10 days is not reminded of the 14th at once.
    """
    passed = {mark for mark in _MARKS if made_at < expires_at - timedelta(days=mark) <= now}
    missed = passed.difference(done)
    if not missed:
        return NOTHING_DUE
    most_urgent = min(missed)
    overtaken = any(mark < most_urgent for mark in done)
    return Reminder(None if overtaken else most_urgent, frozenset(missed))


def next_reminder(
    *, made_at: datetime, expires_at: datetime, done: Collection[int]
) -> datetime | None:
    """Give the time at which the next reminder falls due; None when all are done."""
    times = [
        expires_at - timedelta(days=mark)
        for mark in _MARKS
        if mark not in done and made_at < expires_at - timedelta(days=mark)
    ]
    return min(times, default=None)
