"""Sends alarms: one message to each webhook for each cause, and emails as their readers like."""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from mudra.localization.language import written_in
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.notifications.alarm_mail import Habits
from mudra.metrics.notifications.alarm_mailer import AlarmMailer
from mudra.metrics.notifications.escalation import Escalation, escalation_facts
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.notifications.webhook import chat_messages_of, message_of
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.storage.mail.outbox import Outbox


class Notifier(Struct, frozen=True):
    """Queues emails and messages in the caller's transaction."""

    messages: Webhooks
    mailer: AlarmMailer
    outbox: Outbox
    escalation: Escalation = Escalation()

    async def escalate(
        self, incidents: Sequence[StoredIncident], now: datetime
    ) -> Sequence[StoredIncident]:
        """Sends one email about them to each reader, in its time zone and language.

        Returns those that someone heard of.
        """
        if not self.escalation.to:
            return await self.mailer.escalate(incidents, now)
        habits = await self.mailer.store.habits(self.escalation.to)
        names, console = await self.mailer.members(incidents), self.mailer.console
        for address in self.escalation.to:
            own = habits.get(address, Habits())
            with written_in(self.mailer.languages.of(own.language)):
                facts = escalation_facts(incidents, now, own.zone, console, names, is_named=True)
            await self.outbox.post(Notice(address, NoticeKind.HEALTH_ESCALATED, facts))
        return incidents

    async def send(self, notifications: Sequence[IncidentNotification], now: datetime) -> None:
        """Notifies the members and the network of each change that raises an alarm.

        And sends the emails whose time has come: after quiet hours, or in a storm.
        """
        for notification in notifications:
            for one in notification.announcements:
                if one.is_worse:
                    continue
                chats = chat_messages_of(one, notification.incident_id, self.mailer.console)
                await self.messages.post(
                    one.readers,
                    message_of(one, notification.incident_id, now, notification.at_once),
                    now,
                    event=one.event,
                    to_network=one.to_network,
                    fip_id=one.fip_id,
                    chats=chats,
                )
        await self.mailer.send(notifications, now)
