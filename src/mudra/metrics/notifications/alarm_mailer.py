"""Sends alarms to people by email or webhook, each in their time zone; digests for storms."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mudra.localization.language import gettext, written_in
from mudra.localization.languages import Languages
from mudra.metrics.incidents.incident import Incident, StoredIncident
from mudra.metrics.incidents.incident_change import Elsewhere, Withdrawn
from mudra.metrics.incidents.subject import (
    Names,
    aa_concerned,
    apis_of,
    fip_concerned,
    members_of,
)
from mudra.metrics.notifications.alarm import affected_text, alarm_of
from mudra.metrics.notifications.alarm_mail import (
    MAX_LISTED,
    MAX_WHOLE,
    SEPARATOR,
    Called,
    HeldAlarm,
    History,
    MemberAlarm,
    PersonalAlarm,
    Reader,
    StormRule,
    mailing_of,
)
from mudra.metrics.notifications.alarm_mail_store import AlarmMails
from mudra.metrics.notifications.escalation import escalation_facts, hears_of, unowned
from mudra.metrics.notifications.incident_notifications import Announcement, IncidentNotification
from mudra.metrics.notifications.severity import Severity, severity_of
from mudra.metrics.notifications.webhook_formats import ChatMessage, Format, in_format
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.storage.mail.outbox import Outbox

PERSONAL: Final = "alarms"
"""The `type` of the message."""


class AlarmData(Struct, rename="camel", kw_only=True):
    """One alarm; `entityId` is the reader's entity, empty for alarms of the network.

    `incidentId` is empty for one about an error budget.
    """

    incident_id: str
    entity_id: str
    severity: str
    over: bool
    title: str
    text: str
    link: str


class AlarmsData(Struct):
    """The alarms of a message, the most urgent first; `more` were left out."""

    alarms: list[AlarmData]
    more: int


class AlarmsMessage(Struct):
    """The body in the standard format."""

    type: str
    timestamp: datetime
    data: AlarmsData


class AlarmMailer(Struct, frozen=True):
    """Queues emails and messages in the caller's transaction."""

    store: AlarmMails
    outbox: Outbox
    messages: Webhooks
    rule: StormRule
    console: str
    """The address of the console."""
    languages: Languages

    async def send(self, notifications: Iterable[IncidentNotification], now: datetime) -> None:
        """Sends what readers are to know now of these changes, and what has waited for them."""
        alarms = await self._with_followers([one for one in notifications if one.announcements])
        due = await self.store.due(now)
        if not alarms and not due:
            return
        entities = {
            entity for one in alarms for part in one.announcements for entity in part.readers
        }
        users = {one.user_id for one in due}
        readers = await self.store.readers(entities | {one.alarm.entity_id for one in due}, users)
        await self.store.forget(users - {one.user_id for one in readers})
        ids, incidents = [one.user_id for one in readers], [one.incident_id for one in alarms]
        waiting = {(one.user_id, one.alarm.incident_id): one for one in due}
        for one in await self.store.waiting(ids, incidents):
            waiting[one.user_id, one.alarm.incident_id] = one
        incidents += [one.alarm.incident_id for one in due]
        history = await self.store.history(ids, incidents, now - self.rule.within)
        called = await self._called(part.incident for one in alarms for part in one.announcements)
        for reader in readers:
            own = [one for (user_id, _), one in waiting.items() if user_id == reader.user_id]
            with written_in(self.languages.of(reader.language)):
                found = [_alarm_for(reader, alarm, called) for alarm in alarms]
            new = [one for one in found if one is not None]
            known = history.get(reader.user_id, History())
            await self._send_to(reader, new, own, known, now)

    async def send_of_member(
        self, entity_id: str, alarms: Sequence[MemberAlarm], now: datetime
    ) -> None:
        """Sends alarms about a member to its admins, or holds them back, as alarms of incidents."""
        found = await self.store.readers({entity_id}, ())
        readers = [one for one in found if entity_id in one.entities]
        ids, about = [one.user_id for one in readers], [one.about for one in alarms]
        history = await self.store.history(ids, about, now - self.rule.within)
        waiting = await self.store.waiting(ids, about)
        for reader in readers:
            with written_in(self.languages.of(reader.language)):
                new = [_of_member(one, reader.preferences.zone) for one in alarms]
            own = [one for one in waiting if one.user_id == reader.user_id]
            await self._send_to(reader, new, own, history[reader.user_id], now)

    async def members(self, incidents: Sequence[StoredIncident]) -> Names:
        """Returns the names of the members that incidents are about or affect."""
        return _names(await self._called(one.incident for one in incidents))

    async def _called(self, incidents: Iterable[Incident]) -> Mapping[str, Called]:
        ids = {entity_id for one in incidents for entity_id in members_of(one)}
        return await self.store.called(ids) if ids else {}

    async def escalate(
        self, incidents: Sequence[StoredIncident], now: datetime
    ) -> Sequence[StoredIncident]:
        """Notifies operators who want alarms of the network; returns what someone heard of."""
        known: set[str] = set()
        names = await self.members(incidents)
        for reader in await self.store.readers((), ()):
            heard = [one for one in incidents if hears_of(reader, one, now)]
            if not heard:
                continue
            known |= {one.incident_id for one in heard}
            with written_in(self.languages.of(reader.language)):
                zone = reader.preferences.zone
                facts = escalation_facts(heard, now, zone, self.console, names)
                alarms = [unowned(one, now, zone, names) for one in heard]
            if reader.wants_email:
                await self._post(reader, NoticeKind.HEALTH_ESCALATED, facts)
            await self._post_message(reader, sorted(alarms, key=_urgency), now)
        return [one for one in incidents if one.incident_id in known]

    async def _with_followers(
        self, alarms: Sequence[IncidentNotification]
    ) -> Sequence[IncidentNotification]:
        """Adds the FIUs that follow the FIP of an announcement to its readers."""
        fips = {part.fip_id for one in alarms for part in one.announcements if part.fip_id}
        followers = await self.store.followers(fips) if fips else {}
        if not followers:
            return alarms

        def wider(part: Announcement) -> Announcement:
            return replace(part, readers=(*part.readers, *followers.get(part.fip_id or "", ())))

        return [replace(one, announcements=tuple(map(wider, one.announcements))) for one in alarms]

    async def _send_to(
        self,
        reader: Reader,
        new: Sequence[PersonalAlarm],
        waiting: Sequence[HeldAlarm],
        history: History,
        now: datetime,
    ) -> None:
        mailing = mailing_of(reader, new, waiting, history, now, self.rule)
        for alarm in mailing.alone:
            if reader.wants_email:
                kind = NoticeKind.LEVELS_BUDGET if alarm.page else NoticeKind.HEALTH_ALARM
                await self._post(reader, kind, self._facts(alarm))
            await self._post_message(reader, [alarm], now)
        if mailing.digest:
            if reader.wants_email:
                with written_in(self.languages.of(reader.language)):
                    facts = self._digest_facts(mailing.digest)
                await self._post(reader, NoticeKind.HEALTH_DIGEST, facts)
            await self._post_message(reader, sorted(mailing.digest, key=_urgency), now)
        await self.store.save(reader.user_id, mailing, now)

    async def _post(self, reader: Reader, kind: NoticeKind, facts: Mapping[str, str]) -> None:
        await self.outbox.post(Notice(reader.email, kind, facts))

    async def _post_message(
        self, reader: Reader, alarms: Sequence[PersonalAlarm], now: datetime
    ) -> None:
        own = reader.posts_to
        if own is None:
            return
        listed = [(one, self._page(one)) for one in alarms]
        body = personal_body(listed, own.format, f"{self.console}/", now)
        await self.messages.post_to(own.webhook_id, PERSONAL, body, now)

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
            "worst": "" if urgent[0].over else _headline(urgent),
            "severity": urgent[0].severity.value,
            "pages": SEPARATOR.join(map(self._page, listed)),
            "incidents": SEPARATOR.join(
                _line(one, whole=len(alarms) <= MAX_WHOLE) for one in listed
            ),
            "more": str(len(urgent) - len(listed)) if len(urgent) > len(listed) else "",
            "link": f"{self.console}/operator/board"
            if any(not one.entity_id for one in alarms)
            else self._page(urgent[0]),
        }

    def _page(self, alarm: PersonalAlarm) -> str:
        if alarm.page:
            return f"{self.console}/{alarm.page}"
        if alarm.entity_id:
            home = f"{self.console}/entity/{alarm.entity_id}"
            return f"{home}/health/incidents/{alarm.incident_id}"
        return f"{self.console}/operator/incidents/{alarm.incident_id}"


def _of_member(one: MemberAlarm, zone: tzinfo) -> PersonalAlarm:
    title, text = one.words(zone)
    return PersonalAlarm(one.about, one.entity_id, one.severity, title, text, page=one.page)


def _headline(urgent: Sequence[PersonalAlarm]) -> str:
    """Returns the worst alarm of a digest, or the FIPs that fell at once with it."""
    return urgent[0].at_once or urgent[0].title


def _urgency(alarm: PersonalAlarm) -> tuple[bool, int, str]:
    """Open ones first, the worst of them before others."""
    return alarm.over, -list(Severity).index(alarm.severity), alarm.title


def _line(alarm: PersonalAlarm, *, whole: bool) -> str:
    line = f"{alarm.title} ({gettext(alarm.severity.value)})"
    return f"{line}. {_on_one_line(alarm.text)}" if whole else line


def _on_one_line(text: str) -> str:
    return text.replace("\n", " ")


def _names(called: Mapping[str, Called]) -> Names:
    return {entity_id: one.name for entity_id, one in called.items()}


def _alarm_for(
    reader: Reader, one: IncidentNotification, called: Mapping[str, Called]
) -> PersonalAlarm | None:
    """Returns the alarm as this reader gets it: by an entity of theirs before the network.

    One alarm of each incident: who goes on with it needs no other.
    """
    own = [
        (part, entity)
        for part in one.announcements
        for entity in part.readers
        if entity in reader.entities
    ]
    network = [(part, "") for part in one.announcements if part.to_network and reader.is_operator]
    found = sorted([*own, *network], key=lambda one: isinstance(one[0].change, Elsewhere))
    if not found:
        return None
    part, entity = found[0]
    alarm = alarm_of(part.change, reader.preferences.zone, _names(called))
    if alarm is None:
        return None
    return PersonalAlarm(
        one.incident_id,
        entity,
        severity_of(part.incident),
        alarm.title,
        _with_members(alarm.text, part.incident, called, operates=not entity and not part.is_over),
        over=part.is_over,
        void=isinstance(part.change, Withdrawn | Elsewhere),
        is_worse=part.is_worse,
        at_once=one.at_once.text if one.at_once else "",
        apis=apis_of(part.incident),
    )


def _with_members(
    text: str, incident: Incident, called: Mapping[str, Called], *, operates: bool
) -> str:
    """Adds the IDs of the members that it is about, which their names leave out.

    For operators (`operates`) also whom it affects, which a member does not see, and whom to call.
    """
    subject = incident.subject
    ids = [one for one in (aa_concerned(subject), fip_concerned(subject)) if one]
    lines = [text]
    if operates:
        lines.append(affected_text(incident, _names(called)))
        numbers = [called[one] for one in reversed(ids) if one in called and called[one].phone]
        lines += [
            gettext("Call %(member)s: %(phone)s.", member=one.name, phone=one.phone)
            for one in numbers[:1]
        ]
    if ids:
        lines.append(gettext("ID: %(ids)s.", ids=", ".join(ids)))
    return "\n".join(line for line in lines if line)


def personal_body(
    alarms: Sequence[tuple[PersonalAlarm, str]], format_: Format, console: str, now: datetime
) -> bytes:
    """Returns the body for alarms with their pages."""
    listed = alarms[:MAX_LISTED]
    more = len(alarms) - len(listed)
    chat = in_format(format_, _chat(listed, more, console))
    if chat is not None:
        return chat
    data = [
        AlarmData(
            incident_id="" if one.page else one.incident_id,
            entity_id=one.entity_id,
            severity=one.severity.value,
            over=one.over,
            title=one.title,
            text=one.text,
            link=link,
        )
        for one, link in listed
    ]
    return msgspec.json.encode(AlarmsMessage(PERSONAL, now, AlarmsData(data, more)))


def _chat(alarms: Sequence[tuple[PersonalAlarm, str]], more: int, console: str) -> ChatMessage:
    first, link = alarms[0]
    if len(alarms) == 1 and not more:
        return ChatMessage(first.title, first.text, first.severity, first.over, link)
    over = sum(one.over for one, _ in alarms)
    lines = [f"{one.title}{' (over)' if one.over else ''}" for one, _ in alarms]
    if more:
        lines.append(f"and {more} more")
    title = f"{len(alarms) - over} open and {over} ended incident{'' if over == 1 else 's'}"
    return ChatMessage(title, "\n".join(lines), first.severity, over == len(alarms), console)
