"""Limits on password attempts. Pure: times come in.

Per name: 3 free failures, then waits of 1, 2, 4 … seconds up to 15 minutes; at
100 failures in a row the password is disabled until it is set by link. A refused
attempt is not counted. Per address: 10 failures in 5 minutes.
"""

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

FREE_FAILURES: Final = 3
MAX_WAIT: Final = timedelta(minutes=15)
MAX_FAILURES: Final = 100
NOTICES_AT: Final = (5, 20, 50)
ADDRESS_FAILURES: Final = 10
ADDRESS_PERIOD: Final = timedelta(minutes=5)
NETWORK_FAILURES: Final = 1000
"""Failures in five minutes over all names and addresses: an alarm, never a block."""
SUCCESS_PERIOD: Final = timedelta(hours=1)
"""One valid account signs in a limited number of times in it: each costs a slow hash."""
_LINK_LIMITS: Final = ((3, timedelta(hours=6)), (5, timedelta(hours=24)))
_DOUBLINGS: Final = 10
"""2 to the 10th seconds are more than the longest wait."""


class Counted(enum.StrEnum):
    """The kinds of names for which failures are counted. No name of one kind equals one of another.

    Anyone chooses the user name that they type: it must reach no other count.
    """

    PASSWORD = "password"  # noqa: S105  # a kind of count
    """Wrong passwords, by user name as typed."""
    SECOND_FACTOR = "second-factor"
    """Wrong codes and refused passkeys, by user ID."""
    LINK_REFUSAL = "link-refusal"
    """Requests for a link that got none and are in no audit row yet, by user ID."""


class History(Struct, frozen=True):
    """Counted failures in a row of one name, and when the last one was."""

    failures: int
    last_failure_at: datetime | None


FRESH: Final = History(0, None)
"""Also what a right password in an open slot, or a password set by link, leaves behind."""


class Standing(Struct, frozen=True):
    """The knowledge at one moment of a name, and of the address from which it is tried.

    Failures of the address within `ADDRESS_PERIOD`, successes within `SUCCESS_PERIOD`.
    """

    now: datetime
    history: History
    address_failures: Sequence[datetime]
    successes: Sequence[datetime]


class Proceed(Struct, frozen=True):
    """An attempt may be made now."""


class Wait(Struct, frozen=True):
    """No attempt before `until`."""

    until: datetime


class Disabled(Struct, frozen=True):
    """The password is disabled: no attempt succeeds or is counted until it is set by link."""


def decide(history: History, now: datetime) -> Proceed | Wait | Disabled:
    """Decide on an attempt at `now`. A last failure in the future counts as now."""
    if history.failures >= MAX_FAILURES:
        return Disabled()
    if history.failures <= FREE_FAILURES or history.last_failure_at is None:
        return Proceed()
    exponent = min(history.failures - FREE_FAILURES - 1, _DOUBLINGS)
    wait = min(timedelta(seconds=2**exponent), MAX_WAIT)
    until = min(history.last_failure_at, now) + wait
    return Wait(until) if now < until else Proceed()


def after_failure(history: History, now: datetime) -> History:
    """Count a failure; beyond the hundredth nothing is counted."""
    if history.failures >= MAX_FAILURES:
        return history
    return History(history.failures + 1, now)


def notice_due(before: History, after: History) -> int | None:
    """Return the count at which the user is notified of the guessing, if it was just reached."""
    return next((at for at in NOTICES_AT if before.failures < at <= after.failures), None)


def decide_address(failures: Sequence[datetime], now: datetime) -> Proceed | Wait:
    """Decide on an attempt from an address with these failures in the last five minutes."""
    recent = sorted(min(at, now) for at in failures if at > now - ADDRESS_PERIOD)
    if len(recent) < ADDRESS_FAILURES:
        return Proceed()
    return Wait(recent[-ADDRESS_FAILURES] + ADDRESS_PERIOD)


def decide_successes(successes: Sequence[datetime], now: datetime, most: int) -> Proceed | Wait:
    """Decide on a sign-in of an account that signed in at these times: `most` in an hour."""
    recent = sorted(min(at, now) for at in successes if at > now - SUCCESS_PERIOD)
    if len(recent) < most:
        return Proceed()
    return Wait(recent[-most] + SUCCESS_PERIOD)


def may_send_link(sent: Sequence[datetime], now: datetime) -> bool:
    """Return whether one more link may be sent to an address: 3 in 6 hours, 5 in 24."""
    return all(sum(1 for at in sent if at > now - period) < most for most, period in _LINK_LIMITS)
