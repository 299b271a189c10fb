"""Confirm a subscription by webhook, and let its address prove that it wants messages.

Anyone who asks learns nothing of an address but that it has answered: of one that has not, the
page is the same before, while and after it is called. So no one can look for servers by it.
"""

from collections.abc import Callable

from msgspec import Struct

from mudra.metrics.notifications.webhook import new_signing_key
from mudra.metrics.subscriptions.ports import Subscriptions
from mudra.metrics.subscriptions.subscribe import subscription_of
from mudra.metrics.subscriptions.subscription import Subscription, SubscriptionGone
from mudra.metrics.subscriptions.webhook_subscription import (
    COUNTED,
    MAX_CHALLENGES,
    MAX_CHALLENGES_OF_EMAIL,
    MAX_CHALLENGES_OF_HOST,
    MAX_OF_EMAIL,
    MAX_OF_HOST,
    MAX_PROVEN,
    MAX_URL,
    TooManyChallenges,
    TooManySubscriptions,
    challenge_body,
    host_of,
)
from mudra.shared.secret_text import SecretText


class OptedIn(Struct, frozen=True):
    """A subscription whose email address is confirmed; the key only the first time."""

    subscription: Subscription
    secret: SecretText | None


class StatusWebhooks(Struct, frozen=True):
    """Changes subscriptions by webhook in the caller's transaction."""

    subscriptions: Subscriptions
    random_bytes: Callable[[int], bytes]
    url_problem: Callable[[str], str | None]
    """Returns why messages cannot be sent to an address, by its form alone; None when they can."""

    def is_possible(self, url: str) -> bool:
        """Returns whether messages can be sent to an address, by its form: nothing is called."""
        return len(url) <= MAX_URL and self.url_problem(url) is None

    async def opt_in(self, token: SecretText) -> OptedIn | SubscriptionGone | TooManySubscriptions:
        """Confirms the email address of a link; returns the key that signs messages, once."""
        found = await self._find(token)
        if isinstance(found, SubscriptionGone) or found.opted_at is not None:
            return found if isinstance(found, SubscriptionGone) else OptedIn(found, None)
        hooks = self.subscriptions.webhooks
        await hooks.count_alone()
        if await hooks.opted_of(found.email) >= MAX_OF_EMAIL:
            return TooManySubscriptions()
        secret = new_signing_key(self.random_bytes)
        await hooks.opt_in(found, secret)
        return OptedIn(found, secret)

    async def challenge(
        self, token: SecretText
    ) -> Subscription | SubscriptionGone | TooManyChallenges | TooManySubscriptions:
        """Sends a challenge to the address, one at a time; to one that is proven none.

        Asked again while one is on its way, it counts and sends none: else the number that is left
        would show how long the address takes to fail.
        """
        found = await self._find(token)
        if isinstance(found, SubscriptionGone) or found.opted_at is None or found.is_confirmed:
            return found
        hooks = self.subscriptions.webhooks
        await hooks.count_alone()
        host, now = host_of(found.url), await self.subscriptions.now()
        since = now - COUNTED
        if (
            await hooks.challenges(since, email=found.email) >= MAX_CHALLENGES_OF_EMAIL
            or await hooks.challenges(since, host=host) >= MAX_CHALLENGES_OF_HOST
            or await hooks.challenges(since) >= MAX_CHALLENGES
        ):
            return TooManyChallenges()
        if await hooks.proven(host) >= MAX_OF_HOST or await hooks.proven() >= MAX_PROVEN:
            return TooManySubscriptions()
        await hooks.challenge(found, host, challenge_body(self.random_bytes, now))
        return found

    async def _find(self, token: SecretText) -> Subscription | SubscriptionGone:
        found = await subscription_of(self.subscriptions, token)
        return found if isinstance(found, SubscriptionGone) or found.url else SubscriptionGone()
