"""Sends alarms by email: each reader in their own time zone, storms and quiet hours in digests."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.identity.ports import Notice, NoticeKind, Outbox
from mudra.metrics.incidents.incident_change import Closed, Withdrawn
from mudra.metrics.notifications.alarm import alarm_of
from mudra.metrics.notifications.alarm_mail import (
    MAX_LISTED,
    MAX_WHOLE,
    HeldAlarm,
    History,
    PersonalAlarm,
    Reader,
    StormRule,
    mailing_of,
)
from mudra.metrics.notifications.alarm_mail_ports import AlarmMails
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.notifications.severity import Severity, severity_of

SEPARATOR: Final = " | "
"""Between the lines of a digest: facts of emails are one line each, and no name has it."""


class AlarmMailer(Struct, frozen=True):
    """Queues emails in the caller's transaction."""

    store: AlarmMails
    outbox: Outbox
    rule: StormRule
    console: str
    """The address of the console."""

    async def send(self, notifications: Iterable[IncidentNotification], now: datetime) -> None:
        """Sends what readers are to know now of these changes, and what has waited for them."""
        alarms = [one for one in notifications if one.alarm is not None]
        due = await self.store.due(now)
        if not alarms and not due:
            return
        entities = {entity for one in alarms for entity in one.readers}
        users = {one.user_id for one in due}
        readers = await self.store.readers(entities | {one.alarm.entity_id for one in due}, users)
        await self.store.forget(users - {one.user_id for one in readers})
        ids, incidents = [one.user_id for one in readers], [one.incident_id for one in alarms]
        waiting = {(one.user_id, one.alarm.incident_id): one for one in due}
        for one in await self.store.waiting(ids, incidents):
            waiting[one.user_id, one.alarm.incident_id] = one
        incidents += [one.alarm.incident_id for one in due]
        history = await self.store.history(ids, incidents, now - self.rule.within)
        for reader in readers:
            own = [one for (user_id, _), one in waiting.items() if user_id == reader.user_id]
            await self._send_to(reader, alarms, own, history.get(reader.user_id, History()), now)

    async def _send_to(
        self,
        reader: Reader,
        alarms: Sequence[IncidentNotification],
        waiting: Sequence[HeldAlarm],
        history: History,
        now: datetime,
    ) -> None:
        new = [one for one in (_alarm_for(reader, alarm) for alarm in alarms) if one is not None]
        mailing = mailing_of(reader, new, waiting, history, now, self.rule)
        for alarm in mailing.alone:
            await self._post(reader, NoticeKind.HEALTH_ALARM, self._facts(alarm))
        if mailing.digest:
            await self._post(reader, NoticeKind.HEALTH_DIGEST, self._digest_facts(mailing.digest))
        await self.store.save(reader.user_id, mailing, now)

    async def _post(self, reader: Reader, kind: NoticeKind, facts: Mapping[str, str]) -> None:
        await self.outbox.post(Notice(reader.email, kind, facts))

    def _facts(self, alarm: PersonalAlarm) -> dict[str, str]:
        return {
            "title": alarm.title,
            "story": _on_one_line(alarm.text),
            "entity_id": alarm.entity_id,
            "over": "yes" if alarm.over else "",
            "severity": alarm.severity.value,
            "link": self._page(alarm),
        }

    def _digest_facts(self, alarms: Sequence[PersonalAlarm]) -> dict[str, str]:
        urgent = sorted(alarms, key=_urgency)
        listed = urgent[:MAX_LISTED]
        over = sum(one.over for one in alarms)
        return {
            "open": str(len(alarms) - over),
            "over": str(over),
            "incidents": SEPARATOR.join(
                _line(one, whole=len(alarms) <= MAX_WHOLE) for one in listed
            ),
            "more": str(len(urgent) - len(listed)) if len(urgent) > len(listed) else "",
            "link": f"{self.console}/operator/incidents"
            if any(not one.entity_id for one in alarms)
            else self._page(urgent[0]),
        }

    def _page(self, alarm: PersonalAlarm) -> str:
        if alarm.entity_id:
            return f"{self.console}/entity/{alarm.entity_id}/health?incident={alarm.incident_id}"
        return f"{self.console}/operator/incidents/{alarm.incident_id}"


def _urgency(alarm: PersonalAlarm) -> tuple[bool, int, str]:
    """Open ones first, the worst of them before others."""
    return alarm.over, -list(Severity).index(alarm.severity), alarm.title


def _line(alarm: PersonalAlarm, *, whole: bool) -> str:
    line = f"{alarm.title} ({alarm.severity.value})"
    return f"{line}. {_on_one_line(alarm.text)}" if whole else line


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ")


def _alarm_for(reader: Reader, one: IncidentNotification) -> PersonalAlarm | None:
    """Returns the alarm as this reader gets it: by an entity of theirs before the network."""
    alarm = alarm_of(one.change, reader.preferences.zone)
    if alarm is None:
        return None
    own = next((entity for entity in one.readers if entity in reader.entities), "")
    return PersonalAlarm(
        one.incident_id,
        own,
        severity_of(one.incident),
        alarm.title,
        alarm.text,
        over=isinstance(one.change, Closed | Withdrawn),
        void=isinstance(one.change, Withdrawn),
    )
