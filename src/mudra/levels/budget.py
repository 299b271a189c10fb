"""Error budgets within a month: how fast they burn, and when they will be gone."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

LONG: Final = timedelta(hours=24)
SHORT: Final = timedelta(hours=2)
"""Both windows have to burn: the long one says that it matters, the short one that it goes on."""
MIN_FAILED: Final = 100
"""Fewer failed calls in a month say nothing about the rest of it."""


class Period(Struct, frozen=True):
    """Calls that are the member's own, in some time."""

    length: timedelta
    eligible: int
    failed: int


class Burn(Struct, frozen=True):
    """How a member spends its budget of a month."""

    spent: float
    """The share of the month's budget that is spent: 1 is all of it."""
    long_rate: float
    short_rate: float
    """1 spends exactly the month's budget in a month."""
    gone_at: datetime | None
    """When the budget will be gone as fast as now; None if it lasts the month."""

    @property
    def alarming(self) -> bool:
        """Return whether the budget is gone, or will be before the month ends."""
        return self.gone_at is not None


def burn_of(
    month: tuple[datetime, datetime],
    now: datetime,
    so_far: Period,
    long: Period,
    short: Period,
    target: float,
) -> Burn | None:
    """Returns the burn of a member with a target in percent; None without calls or a budget.

    The month's budget is the failed calls that the target allows, if the rest of the month has as
    many calls as the month so far.
    """
    begin, end = month
    share = 1 - target / 100
    elapsed = now - begin
    if so_far.eligible <= 0 or share <= 0 or elapsed <= timedelta():
        return None
    allowed = share * so_far.eligible * ((end - begin) / elapsed)
    spent = so_far.failed / allowed
    rates = [(one.failed / one.eligible if one.eligible else 0.0) / share for one in (long, short)]
    gone_at = _gone_at(now, end, allowed - so_far.failed, long, short)
    if so_far.failed < MIN_FAILED:
        gone_at = None
    return Burn(spent, rates[0], rates[1], gone_at)


def _gone_at(
    now: datetime, end: datetime, left: float, long: Period, short: Period
) -> datetime | None:
    """Returns when what is left is gone, by the slower of both windows; None if it lasts."""
    if left <= 0:
        return now
    pace = min(one.failed / (one.length / timedelta(hours=1)) for one in (long, short))
    if pace <= 0:
        return None
    hours = left / pace
    if hours > (end - now) / timedelta(hours=1):
        return None
    return now + timedelta(hours=hours)
