"""The users of the old secret in its grace period, and when to notify the member. Pure.

One email is sent in the last day of the grace period (or the last half of a shorter
one), when programs used the old secret within that same time.
"""

from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext, ngettext
from mudra.tokens.secrets.secret import EntitySecret

OLD_SECRET_IN_USE: Final = -1
"""The mark of that email, next to those of reminder.py."""
_LAST_SPAN: Final = timedelta(days=1)
_DAY_HOURS: Final = 24


class AddressUse(Struct, frozen=True):
    """The number of tokens that one secret got from one address, and when last."""

    address: str
    count: int
    last_used_at: datetime


class SecretUse(Struct, frozen=True):
    """The use of one secret: its addresses, the latest first.

    `count_in_grace` counts only tokens issued after the secret was replaced.
    """

    addresses: tuple[AddressUse, ...]
    count_in_grace: int

    @property
    def count(self) -> int:
        """Return how many tokens were issued for the secret."""
        return sum(use.count for use in self.addresses)

    @property
    def last_used_at(self) -> datetime | None:
        """Return when the secret was last used; None for never."""
        return self.addresses[0].last_used_at if self.addresses else None


NEVER_USED: Final = SecretUse((), 0)


def still_in_use(old: EntitySecret, use: SecretUse, now: datetime) -> bool:
    """Return whether to notify the member now that its old secret is still in use."""
    ends_at = old.grace_until
    if ends_at is None or use.last_used_at is None or use.count_in_grace == 0:
        return False
    span = min(_LAST_SPAN, timedelta(days=max(1, old.grace_days)) / 2)
    return now >= ends_at - span and use.last_used_at >= min(now, ends_at) - span


def last_use_sentence(use: SecretUse, now: datetime) -> str:
    """Return when a secret was last used, as text for people in the current language."""
    if use.last_used_at is None:
        return gettext("never used")
    return ngettext(
        "last used %(ago)s from %(num)s address",
        "last used %(ago)s from %(num)s addresses",
        len(use.addresses),
        ago=_ago(now - use.last_used_at),
    )


def _ago(span: timedelta) -> str:
    minutes = max(0, int(span.total_seconds())) // 60
    hours = minutes // 60
    # Up to two days in hours: `26 hours ago` says more than `a day ago`.
    if hours >= 2 * _DAY_HOURS:
        days = hours // _DAY_HOURS
        return ngettext("%(num)s day ago", "%(num)s days ago", days)
    if hours:
        return ngettext("%(num)s hour ago", "%(num)s hours ago", hours)
    if minutes:
        return ngettext("%(num)s minute ago", "%(num)s minutes ago", minutes)
    return gettext("just now")
