"""Confirm a subscription by webhook, and let its address prove that it wants messages.

Anyone who asks learns nothing of an address but that it has answered: of one that has not, the
page is the same before, while and after it is called. So no one can look for servers by it.
"""

from collections.abc import Callable

from msgspec import Struct

from mudra.localization.language import written_in
from mudra.localization.languages import Languages
from mudra.metrics.notifications.webhook import CHALLENGE, CONFIRMATION, new_signing_key
from mudra.metrics.notifications.webhook_formats import NO_CHATS, Format, chat_bodies
from mudra.metrics.subscriptions.chat_subscription import (
    channel_link,
    confirmation,
    counted_by,
    format_of,
    is_link_of,
    subscription_in,
)
from mudra.metrics.subscriptions.subscribe import subscription_of
from mudra.metrics.subscriptions.subscription import Subscription, SubscriptionGone, is_lapsed
from mudra.metrics.subscriptions.subscription_store import Subscriptions
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
    languages: Languages
    root: str
    """The public address of the status page."""

    def is_possible(self, url: str) -> bool:
        """Returns whether messages can be sent to an address, by its form: nothing is called."""
        is_short = len(url) <= MAX_URL
        return is_short and self.url_problem(url) is None and format_of(url) is not None

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
        self, token: SecretText, institution: str = ""
    ) -> Subscription | SubscriptionGone | TooManyChallenges | TooManySubscriptions:
        """Sends a challenge to the address, one at a time; to one that is proven none.

        Asked again while one is on its way, it counts and sends none: else the number that is left
        would show how long the address takes to fail. To the channel of a chat a link is posted,
        in place of the challenge; `institution` is the name that the message has.
        """
        found = await self._find(token)
        if isinstance(found, SubscriptionGone) or found.opted_at is None or found.is_confirmed:
            return found
        hooks = self.subscriptions.webhooks
        await hooks.count_alone()
        host, now = counted_by(found.url), await self.subscriptions.now()
        since = now - COUNTED
        if (
            await hooks.challenges(since, email=found.email) >= MAX_CHALLENGES_OF_EMAIL
            or await hooks.challenges(since, host=host) >= MAX_CHALLENGES_OF_HOST
            or await hooks.challenges(since) >= MAX_CHALLENGES
        ):
            return TooManyChallenges()
        if await hooks.proven(host) >= MAX_OF_HOST or await hooks.proven() >= MAX_PROVEN:
            return TooManySubscriptions()
        if format_of(found.url) is Format.STANDARD:
            body = challenge_body(self.random_bytes, now)
            await hooks.challenge(found, host, CHALLENGE, body, NO_CHATS)
            return found
        key = await hooks.key(found.subscription_id)
        if key is None:
            return SubscriptionGone()
        end = channel_link(found.subscription_id, key).reveal()
        with written_in(self.languages.of(found.language)):
            message = confirmation(institution, SecretText(f"{self.root}/channel/{end}"))
        await hooks.challenge(found, host, CONFIRMATION, b"{}", chat_bodies(message))
        return found

    async def of_channel(self, link: SecretText) -> Subscription | SubscriptionGone:
        """Returns the subscription of the link that was posted into a channel."""
        subscription_id = subscription_in(link)
        if subscription_id is None:
            return SubscriptionGone()
        found = await self.subscriptions.find_by_id(subscription_id)
        key = await self.subscriptions.webhooks.key(subscription_id) if found else None
        if found is None or key is None or not is_link_of(link, subscription_id, key):
            return SubscriptionGone()
        return SubscriptionGone() if is_lapsed(found, await self.subscriptions.now()) else found

    async def confirm_channel(
        self, link: SecretText
    ) -> Subscription | SubscriptionGone | TooManySubscriptions:
        """Begins to post to a channel, for a reader of it; again changes nothing."""
        found = await self.of_channel(link)
        if isinstance(found, SubscriptionGone) or found.is_confirmed:
            return found
        hooks = self.subscriptions.webhooks
        await hooks.count_alone()
        host = counted_by(found.url)
        if await hooks.proven(host) >= MAX_OF_HOST or await hooks.proven() >= MAX_PROVEN:
            return TooManySubscriptions()
        await self.subscriptions.confirm(found.subscription_id)
        return await self.subscriptions.of(found.subscription_id)

    async def end_channel(self, link: SecretText) -> Subscription | SubscriptionGone:
        """Ends the subscription of a channel and forgets its addresses, for a reader of it."""
        found = await self.of_channel(link)
        if isinstance(found, Subscription):
            await self.subscriptions.end(found.subscription_id)
        return found

    async def _find(self, token: SecretText) -> Subscription | SubscriptionGone:
        found = await subscription_of(self.subscriptions, token)
        return found if isinstance(found, SubscriptionGone) or found.url else SubscriptionGone()
