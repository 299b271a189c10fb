"""A subscription to the public status: whose, to what, and how long it may wait. Pure."""

import base64
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.secret_text import SecretText

_TOKEN_BYTES: Final = 32
CONFIRM_WITHIN: Final = timedelta(hours=48)
"""An address that is not confirmed by then is forgotten."""
MAX_CONFIRMATIONS: Final = 3
"""Emails to one address that ask for a confirmation, in 24 hours: no one is flooded by others."""
MAX_CONFIRMATIONS_AN_HOUR: Final = 1000
"""Emails to all addresses that ask for a confirmation; further requests wait for theirs."""
MAX_WAITING: Final = 10_000
"""Unconfirmed ones of all; one more takes the place of the oldest (decision 0117)."""
KEPT_ONCE_MAILED: Final = timedelta(hours=1)
"""So long after its email no other takes the place of a request: its owner may confirm it."""
LATE: Final = timedelta(minutes=10)
"""A request that waits for its email for so long is shown to operators."""


class Subscription(Struct, frozen=True):
    """An address that gets emails about one institution, or about all (`fip_id` empty).

    With a `url`, messages are posted there, and the email address hears of failures only.
    """

    subscription_id: str
    email: str
    fip_id: str
    language: str
    """The tag of the page on which it was asked for."""
    token: SecretText
    """What the link in each email ends with: it confirms, and it ends the subscription."""
    asked_at: datetime
    confirmed_at: datetime | None = None
    """Of a webhook: when its address proved that it wants messages."""
    url: str = ""
    opted_at: datetime | None = None
    """Of a webhook: when the email address was confirmed."""

    @property
    def is_confirmed(self) -> bool:
        """Return whether the address was confirmed by its owner."""
        return self.confirmed_at is not None


class Crowd(Struct, frozen=True):
    """More requests than are answered; `waiting` of them wait for their emails."""

    waiting: int
    since: datetime
    is_full: bool
    """Whether one more takes the place of the oldest."""


class SubscriptionGone(Refusal, frozen=True):
    """No subscription has this link: it has ended, was never confirmed, or is mistyped."""

    kind = RefusalKind.NOT_FOUND
    sentence = "no subscription has this link"


def new_token(random_bytes: Callable[[int], bytes]) -> SecretText:
    """Make the token of a subscription's link: 256 random bits."""
    raw = random_bytes(_TOKEN_BYTES)
    return SecretText(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())


def is_lapsed(one: Subscription, now: datetime) -> bool:
    """Return whether it was not confirmed in time."""
    return not one.is_confirmed and now - one.asked_at > CONFIRM_WITHIN
