"""The ports of webhooks to storage."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from mudra.metrics.notifications.webhook import Attempt, Event, Owner, WaitingMessage, Webhook
from mudra.metrics.notifications.webhook_formats import NO_CHATS, Format
from mudra.shared.secret_text import SecretText


class Webhooks(Protocol):
    """Stored webhooks; an owner of None means any entity and the network, and no person."""

    async def list(self, owner: Owner | None) -> Sequence[Webhook]:
        """Returns one owner's webhooks, the oldest first."""
        ...

    async def add(self, webhook: Webhook, secret: SecretText) -> None:
        """Stores a new one with the key that signs its messages, encrypted."""
        ...

    async def remove(self, webhook_id: str, owner: Owner | None) -> Webhook | None:
        """Removes it with its messages; None when there is none, or it is another owner's."""
        ...

    async def new_secret(
        self, webhook_id: str, secret: SecretText, previous_until: datetime
    ) -> None:
        """Replaces the key; until then the previous one signs as well."""
        ...

    async def attempts(self, webhook_id: str) -> Sequence[Attempt]:
        """Returns the latest deliveries and failures, the newest first."""
        ...

    async def events(self, webhook_id: str) -> Sequence[Event]:
        """Returns the latest events, waiting ones among them, the newest first."""
        ...

    async def resend(self, webhook_id: str, message_id: str, now: datetime) -> str | None:
        """Queues an event that is kept once more, under its ID; None where none of it is."""
        ...

    async def has_waiting(self, webhook_id: str, event: str) -> bool:
        """Returns whether a message of this event waits for delivery."""
        ...

    async def post_to(self, webhook_id: str, event: str, body: bytes, now: datetime) -> None:
        """Queues one message for this webhook."""
        ...


class TestMessageBudget(Protocol):
    """Limits how many test messages each owner has sent, over all nodes."""

    async def wait_s(self, requester: str) -> int:
        """Counts one and returns 0, or the whole seconds until the next is permitted."""
        ...


class WebhookMessages(Protocol):
    """Messages that wait for delivery."""

    async def post(
        self, entity_ids: Sequence[str], body: bytes, now: datetime, *,
        event: str = "", to_network: bool = True, fip_id: str | None = None,
        chats: Mapping[Format, bytes] = NO_CHATS,
    ) -> None:  # fmt: skip
        """Queues one message for each webhook of these entities, if active, and of the network.

        And for each of an active FIU that names this FIP. `chats` has the bodies for chats; without
        them no chat gets the message.
        """
        ...

    async def post_to(self, webhook_id: str, event: str, body: bytes, now: datetime) -> None:
        """Queues one message for this webhook."""
        ...

    async def take_due(
        self, limit: int, now: datetime, *, at_once_to_one: int, of_public: bool
    ) -> Sequence[WaitingMessage]:
        """Takes due messages of alarms or of the public, so that no other process delivers them.

        Of one webhook so many that `at_once_to_one` are on their way to it, by all processes.
        """
        ...

    async def still_taken(self, message: WaitingMessage) -> bool:
        """Extends the claim; returns False when another process took the message, or it is gone."""
        ...

    async def delivered(self, message: WaitingMessage) -> None:
        """Deletes a delivered message, and records the attempt; a challenge activates."""
        ...

    async def retry(self, message: WaitingMessage, problem: str, in_: timedelta) -> None:
        """Records why a delivery failed, and when to try again."""
        ...

    async def give_up(self, message: WaitingMessage, problem: str) -> None:
        """Records why a delivery failed, and deletes the message."""
        ...
