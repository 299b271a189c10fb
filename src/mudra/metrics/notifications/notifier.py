"""Sends alarms: an email to each admin of the member, a message to each webhook."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from mudra.identity.ports import Notice, NoticeKind, Outbox, People
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.notifications.webhook import message_of
from mudra.metrics.ports import WebhookMessages


class Notifier(Struct, frozen=True):
    """Queues emails and messages in the caller's transaction."""

    messages: WebhookMessages
    people: People
    outbox: Outbox

    async def send(self, notifications: Sequence[IncidentNotification], now: datetime) -> None:
        """Notifies the member and the network of each change that raises an alarm."""
        for one in notifications:
            if one.alarm is None:
                continue
            entity_id = name_of(one.incident.subject).entity_id
            body = message_of(one, now)
            if body is not None:
                await self.messages.post(entity_id, body, now)
            facts = {
                "title": one.alarm.title,
                "story": one.alarm.text.replace("\n", " "),
                "entity_id": entity_id,
            }
            member = await self.people.member(entity_id)
            for address in member.admins if member else ():
                await self.outbox.post(Notice(address, NoticeKind.HEALTH_ALARM, facts))
