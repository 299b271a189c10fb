"""Webhooks: addresses that receive alarms, and the messages they receive.

A member's webhook receives the member's own incidents, an operator's webhook (`entity_id` empty)
all of them. Messages follow Standard Webhooks: an ID that stays the same over retries, a
timestamp, and a signature over both and the body.
"""

from datetime import datetime
from typing import Final

import msgspec
from msgspec import Struct

from mudra.metrics.incidents.subject import name_of
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText

MAX_OF_A_MEMBER: Final = 5
MAX_OF_THE_NETWORK: Final = 20


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


class AddedWebhook(Struct, frozen=True):
    """A new webhook with the key that signs its messages; the key is returned only once."""

    webhook: Webhook
    secret: SecretText


class WaitingMessage(Struct, frozen=True):
    """A message to deliver: its address, its body and the key that signs it."""

    message_id: str
    webhook_id: str
    url: str
    secret: SecretText
    body: bytes
    made_at: datetime
    attempts: int


class TooManyWebhooks(Refusal, frozen=True):
    """The member, or the network, has the maximum number of webhooks."""

    most: int


class UrlRefused(Refusal, frozen=True):
    """Messages cannot be sent to this address."""

    problem: str


class NoSuchWebhook(Refusal, frozen=True):
    """No webhook has this ID, or it belongs to someone else."""


class IncidentData(msgspec.Struct, rename="camel", kw_only=True):
    """The incident in a message; `type` is a code of spec 2.5 or empty."""

    incident_id: str
    kind: str
    entity_id: str
    type: str
    began: datetime
    last_bad: datetime
    ended: datetime | None
    state: str
    bad_windows: int
    title: str
    text: str


class Message(msgspec.Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: IncidentData


def message_of(notification: IncidentNotification, now: datetime) -> bytes | None:
    """Returns the body of the message about a change; None when it raises no alarm."""
    event, alarm = notification.event, notification.alarm
    if alarm is None or event is None:
        return None
    incident, name = notification.incident, name_of(notification.incident.subject)
    data = IncidentData(
        incident_id=notification.incident_id,
        kind=name.kind.value,
        entity_id=name.entity_id,
        type=name.type,
        began=incident.began,
        last_bad=incident.last_bad,
        ended=incident.ended,
        state=incident.ending.value,
        bad_windows=incident.bad_windows,
        title=alarm.title,
        text=alarm.text,
    )
    return msgspec.json.encode(Message(event.value, now, data))
