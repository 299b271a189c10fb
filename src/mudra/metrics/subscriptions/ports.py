"""The ports of subscriptions to the public status to storage."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from mudra.metrics.notifications.webhook_formats import Format
from mudra.metrics.subscriptions.public_news import News, NewsState
from mudra.metrics.subscriptions.subscription import Crowd, Subscription
from mudra.metrics.subscriptions.webhook_subscription import Failing
from mudra.shared.secret_text import SecretText


class NewsStore(Protocol):
    """The announced state of each incident, and how far the emails about it are."""

    async def states(self) -> Mapping[str, NewsState]:
        """Return the last announced state of each incident by its ID."""
        ...

    async def put(self, news: Sequence[News]) -> None:
        """Record states to be announced from now on, to all from the first."""
        ...

    async def take(self) -> News | None:
        """Take one whose emails are not all written, so that no other process takes it."""
        ...

    async def advance(self, incident_id: str, after: str, *, done: bool) -> None:
        """Record the last subscription that was written to."""
        ...


class SubscriptionWebhooks(Protocol):
    """The webhooks of subscriptions, their challenges and their failures."""

    async def count_alone(self) -> None:
        """Let no other transaction count until this one ends."""
        ...

    async def opted_of(self, email: str) -> int:
        """Return how many webhooks an email address has confirmed."""
        ...

    async def proven(self, host: str | None = None) -> int:
        """Return how many webhooks are proven, of a host or of all."""
        ...

    async def challenges(
        self, since: datetime, *, email: str | None = None, host: str | None = None
    ) -> int:
        """Return how many challenges were sent, for an email address, to a host, or of all."""
        ...

    async def opt_in(self, subscription: Subscription, secret: SecretText) -> None:
        """Store that the email address is confirmed, and the key that signs messages."""
        ...

    async def challenge(
        self,
        subscription: Subscription,
        host: str,
        event: str,
        body: bytes,
        chats: Mapping[Format, bytes],
    ) -> None:
        """Count a challenge, and queue it unless one is on its way."""
        ...

    async def key(self, subscription_id: str) -> SecretText | None:
        """Return the key of a subscription's webhook; None where there is none."""
        ...

    async def post(
        self,
        subscription_ids: Sequence[str],
        event: str,
        body: bytes,
        chats: Mapping[Format, bytes],
    ) -> None:
        """Queue a message for each webhook of these, unless too many wait for it.

        `chats` has the bodies for chats, by their formats.
        """
        ...

    async def take_failing(self, limit: int) -> Sequence[Failing]:
        """Take the subscriptions of which a message was given up: to warn of, or to end."""
        ...

    async def warned(self, subscription_id: str) -> None:
        """Record that its owner was warned."""
        ...


class Subscriptions(Protocol):
    """Stored subscriptions; their tokens are encrypted, and found by a hash."""

    @property
    def news(self) -> NewsStore:
        """Return what was announced to them."""
        ...

    @property
    def webhooks(self) -> SubscriptionWebhooks:
        """Return the webhooks of those that have one."""
        ...

    async def now(self) -> datetime:
        """Return the time of the transaction."""
        ...

    async def ask(
        self, email: str, fip_id: str, language: str, token: SecretText, url: str
    ) -> None:
        """Store a request, by the same statements whatever is known of the address.

        Of one that is confirmed nothing changes; of another its time does, and its token stays.
        Where too many are not confirmed it takes the place of the oldest.
        """
        ...

    async def crowd(self) -> Crowd | None:
        """Return that more ask than are answered; None while each has its email in time."""
        ...

    async def take_asked(self, limit: int) -> Sequence[Subscription]:
        """Take unconfirmed ones whose request was not answered yet, and mark them answered."""
        ...

    async def confirmations_since(self, since: datetime, *, email: str | None = None) -> int:
        """Return how many emails asked this address for a confirmation, or all; or a few more."""
        ...

    async def confirmation_sent(self, subscription_id: str) -> None:
        """Record that an email asked for the confirmation."""
        ...

    async def find(self, token: SecretText) -> Subscription | None:
        """Return the subscription of a link and hold its lock for this transaction."""
        ...

    async def find_by_id(self, subscription_id: str) -> Subscription | None:
        """Return the subscription of this ID and hold its lock for this transaction."""
        ...

    async def of(self, subscription_id: str) -> Subscription:
        """Return one that is locked by this transaction."""
        ...

    async def confirm(self, subscription_id: str) -> None:
        """Record that the owner of the address confirmed it."""
        ...

    async def end(self, subscription_id: str) -> None:
        """Delete it."""
        ...

    async def is_anything_due(self) -> bool:
        """Return whether there is a subscription, or news or an announcement not sent to all."""
        ...

    async def confirmed(
        self, fip_ids: Sequence[str], before: datetime, after: str, limit: int
    ) -> Sequence[Subscription]:
        """Return those to these institutions or to all, confirmed by then, in order of their IDs.

        Without institutions all subscriptions. One for each address: who subscribed to several is
        written to once. `after` is the ID of the last one before; empty for the first.
        """
        ...
