"""Webhooks: addresses that receive alarms, and the messages they receive.

A member's webhook receives the member's own incidents, a FIU's those of the FIPs that it names, an
operator's webhook (`entity_id` empty) all of them, a person's own the alarms that the person chose.
Messages follow Standard Webhooks: an ID that
stays the same over retries, a timestamp, and a signature over both and the body.
"""

import base64
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from mudra.localization.language import translatable
from mudra.metrics.incidents.explanation import AtOnce
from mudra.metrics.incidents.incident_change import Elsewhere
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.notifications.incident_notifications import Announcement
from mudra.metrics.notifications.severity import severity_of
from mudra.metrics.notifications.webhook_formats import ChatMessage, Format, chat_bodies, in_format
from mudra.shared.refusal import WAIT_TEXT, PlainRefusal, Refusal, RefusalKind
from mudra.shared.secret_text import SecretText

MAX_OF_A_MEMBER: Final = 5
MAX_OF_THE_NETWORK: Final = 20
MAX_OF_A_PERSON: Final = 1
MAX_FIPS: Final = 500
PREVIOUS_KEY_FOR: Final = timedelta(hours=24)
"""After a rotation the previous key signs as well, so that a receiver can change at its leisure."""
TEST: Final = "webhook.test"
"""The event of a test message."""
MAX_EVENTS: Final = 50
"""Events of one webhook that are kept, to be seen and sent again."""
MAX_TESTS: Final = 20
"""Test messages to the webhooks of one owner in any hour, also to those that it removed.

So many events are sent again in an hour, too.
"""
CHALLENGE: Final = "subscription.challenge"
"""The event of a message that the address of a subscription has to answer."""
CONFIRMATION: Final = "subscription.confirmation"
"""The event of a message that asks the channel of a chat whether it wants others."""
ASKED: Final = frozenset({CHALLENGE, CONFIRMATION})
"""Messages to addresses that have not proven yet that they want any: sent once, never again."""
WEBHOOKS_CHANGED: Final = "webhooks"
"""The change that is announced to all nodes when messages were queued."""
GONE: Final = "the receiver answered 410"
"""The problem by which the address of a subscription ends it (Standard Webhooks 1)."""
_KEY_BYTES: Final = 32
_KEY_PREFIX: Final = "whsec_"
_MOVED: Final = "moved"
"""The state for those whom an incident does not concern any more."""


class Owner(Struct, frozen=True):
    """The owner of webhooks: a member's, the network's (both empty), or a person's own."""

    entity_id: str = ""
    user_id: str = ""

    @property
    def most(self) -> int:
        """The number that it may have."""
        if self.user_id:
            return MAX_OF_A_PERSON
        return MAX_OF_A_MEMBER if self.entity_id else MAX_OF_THE_NETWORK


class Webhook(Struct, frozen=True):
    """One address; `entity_id` is empty for the whole network."""

    webhook_id: str
    entity_id: str
    url: str
    made_by: str
    made_at: datetime
    waiting: int = 0
    """The number of messages that are not delivered yet."""
    delivered_at: datetime | None = None
    """The time of the last delivery."""
    problem: str = ""
    """The reason why the last delivery failed; empty when it succeeded."""
    fips: tuple[str, ...] = ()
    """Of a FIU: FIPs whose incidents it receives, and those of paths to them."""
    format: Format = Format.STANDARD
    user_id: str = ""
    """The person whose own it is; empty for those of members and the network."""
    previous_until: datetime | None = None
    """Until when the key before the last rotation signs as well."""
    subscription_id: str = ""
    """The subscription to the public status that it belongs to; empty for those of alarms."""
    tried_at: datetime | None = None
    """The time of the last attempt; None where there was none, or it is not read."""
    next_at: datetime | None = None
    """When the first message that waits is tried next; None where none waits, or it is not read."""

    @property
    def shown_url(self) -> str:
        """The address for people and the audit log: who knows that of a chat can post to it."""
        if self.format is Format.STANDARD:
            return self.url
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}/…"


class AddedWebhook(Struct, frozen=True):
    """A new webhook with the key that signs its messages; the key is returned only once."""

    webhook: Webhook
    secret: SecretText


class Attempt(Struct, frozen=True):
    """One attempt to deliver a message: `problem` is empty when the receiver took it."""

    at: datetime
    message_id: str
    event: str
    number: int
    problem: str = ""


class Event(Struct, frozen=True):
    """One message with its body; `over_at` None while it waits, `problem` of its last attempt."""

    message_id: str
    event: str
    made_at: datetime
    attempts: int
    over_at: datetime | None
    problem: str
    body: bytes
    tried_at: datetime | None = None
    """When the last attempt was made."""
    next_at: datetime | None = None
    """When the next one is due, while it waits."""

    @property
    def state(self) -> str:
        """`waiting`, `delivered` or `failed`."""
        if self.over_at is None:
            return "waiting"
        return "failed" if self.problem else "delivered"


class WaitingMessage(Struct, frozen=True):
    """A message to deliver: its address, its body and the key that signs it."""

    message_id: str
    webhook_id: str
    url: str
    secret: SecretText
    body: bytes
    made_at: datetime
    attempts: int
    event: str = ""
    previous: SecretText | None = None
    """The key before the last rotation, while it signs as well."""
    subscription_id: str = ""
    """The public subscription that it is for; empty for alarms."""

    def is_final(self, problem: str) -> bool:
        """Returns whether a failure ends it at once: a challenge, or an address that is gone."""
        return bool(self.subscription_id) and (self.event in ASKED or problem == GONE)


def new_signing_key(random_bytes: Callable[[int], bytes]) -> SecretText:
    """Makes the key that signs the messages of a webhook: 256 random bits."""
    return SecretText(_KEY_PREFIX + base64.b64encode(random_bytes(_KEY_BYTES)).decode("ascii"))


class TooManyWebhooks(Refusal, frozen=True):
    """The member, or the network, has the maximum number of webhooks."""

    kind = RefusalKind.CONFLICT
    most: int

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"webhooks are limited to {self.most} here: remove one first"


ALREADY_ADDED: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    translatable(
        "url is the address of a webhook that gets the same messages already: remove that one first"
    ),
)


def fips_refused(problem: str) -> PlainRefusal:
    """Refuse: the FIPs of a webhook are wrong."""
    return PlainRefusal(RefusalKind.CONFLICT, f"fips {problem}")


class NoSuchWebhook(Refusal, frozen=True):
    """No webhook has this ID, or it belongs to someone else."""

    kind = RefusalKind.NOT_FOUND
    sentence = translatable("no webhook of this ID")


class NoSuchEvent(Refusal, frozen=True):
    """No event of this ID is kept, or it waits for delivery already."""

    kind = RefusalKind.NOT_FOUND
    sentence = translatable("no event of this ID that is over: it may wait for delivery already")


def too_many_resends(retry_after_s: int) -> PlainRefusal:
    """Refuse: the owner had as many events sent again as one hour permits."""
    return PlainRefusal(
        RefusalKind.LIMITED,
        translatable("20 events were sent again within an hour, the most allowed")
        + f"; {WAIT_TEXT}",
        retry_after_s,
    )


MESSAGE_WAITS: Final = PlainRefusal(
    RefusalKind.CONFLICT, translatable("a test message of this webhook waits already")
)


def too_many_tests(retry_after_s: int) -> PlainRefusal:
    """Refuse: the owner had as many test messages sent as one hour permits."""
    return PlainRefusal(
        RefusalKind.LIMITED,
        translatable("the test messages that one hour permits are used up") + f"; {WAIT_TEXT}",
        retry_after_s,
    )


class IncidentData(msgspec.Struct, rename="camel", kw_only=True):
    """The incident in a message; `type` has codes of calls with commas, or is empty.

    `peer_id` is the FIP of a path, whose AA is `entity_id`.
    """

    incident_id: str
    kind: str
    entity_id: str
    peer_id: str
    type: str
    symptoms: tuple[str, ...]
    detected: datetime
    began: datetime
    last_bad: datetime
    ended: datetime | None
    state: str
    bad_windows: int
    title: str
    text: str
    at_once: tuple[str, ...]
    """The incidents, with this one, of FIPs that fell at once; empty for one that fell alone."""
    provider: str
    """The gateway service provider of all these FIPs; empty where they have no common one."""


class Message(msgspec.Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: IncidentData


def message_of(
    announcement: Announcement, incident_id: str, now: datetime, group: AtOnce | None = None
) -> bytes:
    """Returns the body of the message about a change; `group` are the FIPs that fell with it."""
    incident, alarm = announcement.incident, announcement.alarm
    name = name_of(incident.subject)
    data = IncidentData(
        incident_id=incident_id,
        kind=name.kind.value,
        entity_id=name.entity_id,
        peer_id=name.peer_id,
        type=name.type,
        symptoms=incident.cause.symptoms,
        detected=incident.detected,
        began=incident.began,
        last_bad=incident.last_bad,
        ended=incident.ended,
        state=_MOVED if isinstance(announcement.change, Elsewhere) else incident.ending.value,
        bad_windows=incident.bad_windows,
        title=alarm.title,
        text=alarm.text,
        at_once=group.incident_ids if group else (),
        provider=group.provider if group else "",
    )
    return msgspec.json.encode(Message(announcement.event.value, now, data))


def chat_messages_of(
    announcement: Announcement, incident_id: str, console: str
) -> Mapping[Format, bytes]:
    """Returns the bodies for chats about a change."""
    message = ChatMessage(
        announcement.alarm.title,
        announcement.alarm.text,
        severity_of(announcement.incident),
        announcement.is_over,
        f"{console}/operator/incidents/{incident_id}",
    )
    return chat_bodies(message)


class SampleData(msgspec.Struct, rename="camel"):
    """The contents of a test message."""

    webhook_id: str
    text: str


class SampleMessage(msgspec.Struct):
    """The body of a test message."""

    type: str
    timestamp: datetime
    data: SampleData


def body_of_test(webhook: Webhook, now: datetime, console: str) -> bytes:
    """Returns the body of a test message in the webhook's format."""
    text = "This is a test: alarms about incidents come like this message."
    chat = ChatMessage("Test message", text, None, over=False, link=console)
    return in_format(webhook.format, chat) or msgspec.json.encode(
        SampleMessage(TEST, now, SampleData(webhook.webhook_id, text))
    )
