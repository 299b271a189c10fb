"""Webhooks: where programs hear of alarms, and what they are told.

A member is told of its own incidents, an operator's webhook (`entity_id` empty)
of all. Messages follow Standard Webhooks: an ID that stays the same over tries,
a time, a signature over both and the body.
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
    """Who is told where; `entity_id` is empty for the whole network."""

    webhook_id: str
    entity_id: str
    url: str
    made_by: str
    made_at: datetime
    waiting: int = 0
    """Messages that are not delivered yet."""
    delivered_at: datetime | None = None
    """When one was taken last."""
    problem: str = ""
    """Why the last try failed; empty when it did not."""


class AddedWebhook(Struct, frozen=True):
    """A new webhook with the key that signs its messages: shown this once."""

    webhook: Webhook
    secret: SecretText


class TooManyWebhooks(Refusal, frozen=True):
    """As many as there may be of one member, or of the network."""

    most: int


class UrlRefused(Refusal, frozen=True):
    """An address that messages cannot go to."""

    problem: str


class DeliveryKind(msgspec.Struct, rename="camel", kw_only=True):
    """The incident as a message tells of it; `type` is a code of spec 2.5 or empty."""

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
    data: DeliveryKind


def message_of(one: IncidentNotification, now: datetime) -> bytes | None:
    """Write the message about news; None for what wakes nobody."""
    event = one.event
    if one.alarm is None or event is None:
        return None
    incident, name = one.incident, name_of(one.incident.subject)
    told = DeliveryKind(
        incident_id=one.incident_id,
        kind=name.kind.value,
        entity_id=name.entity_id,
        type=name.type,
        began=incident.began,
        last_bad=incident.last_bad,
        ended=incident.ended,
        state=incident.ending.value,
        bad_windows=incident.bad_windows,
        title=one.alarm.title,
        text=one.alarm.text,
    )
    return msgspec.json.encode(Message(event.value, now, told))
