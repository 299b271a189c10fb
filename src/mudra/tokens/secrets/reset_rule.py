"""The rule by which a secret may be reset (spec 8): at most 5 in any 24 hours, 5 minutes apart.

Only successful resets count, of all users of the entity. Pure: the caller holds
the entity's lock and passes the database's time.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import ErrorCode, LimitedUntil
from mudra.shared.time_text import iso_ms

MAX_RESETS: Final = 5
PERIOD: Final = timedelta(hours=24)
WAIT: Final = timedelta(minutes=5)


class ResetPermitted(Struct, frozen=True):
    """The reset may go ahead; `left` more are permitted in the period after it."""

    left: int


class ResetTooSoon(LimitedUntil, frozen=True):
    """Within the waiting period after the last reset; permitted again at `retry_at`."""

    code = ErrorCode.RESET_TOO_SOON

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        at = iso_ms(self.retry_at)
        return f"a reset is permitted 5 minutes after the last one: again from {at}"


class ResetLimitReached(LimitedUntil, frozen=True):
    """Five resets in the last 24 hours; permitted again at `retry_at`."""

    code = ErrorCode.RESET_LIMIT_REACHED

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        at = iso_ms(self.retry_at)
        return f"{MAX_RESETS} resets in 24 hours are reached: the next is permitted from {at}"


ResetDecision = ResetPermitted | ResetTooSoon | ResetLimitReached


def decide(history: Sequence[datetime], now: datetime) -> ResetDecision:
    """Decide on a reset at `now`, given the times of the successful ones before it.

    A time in the future (a clock was set back) counts as now, so that a backward
    jump never permits more resets.
    """
    recent = sorted(min(at, now) for at in history if at > now - PERIOD)
    if not recent:
        return ResetPermitted(left=MAX_RESETS - 1)
    after_wait = recent[-1] + WAIT
    if len(recent) >= MAX_RESETS:
        return ResetLimitReached(max(recent[-MAX_RESETS] + PERIOD, after_wait), now)
    if now < after_wait:
        return ResetTooSoon(after_wait, now)
    return ResetPermitted(left=MAX_RESETS - len(recent) - 1)


def permitted_after(history: Sequence[datetime], now: datetime) -> datetime:
    """Return when the next reset is permitted if there is one `now`."""
    then = decide([*history, now], now)
    return now if isinstance(then, ResetPermitted) else then.retry_at
