"""Publishing, changing, ending and listing announcements."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.metrics.announcements.announcement import (
    ANNOUNCED_BEFORE,
    COUNTED,
    MAX_A_DAY,
    MAX_UNENDED,
    RETENTION,
    TOO_MANY_ANNOUNCEMENTS,
    Announcement,
    AnnouncementCommand,
    NoSuchAnnouncement,
    State,
    UpdateCommand,
    changed_announcement,
    new_announcement,
    updated_announcement,
)
from mudra.metrics.announcements.announcement_store import Announcements, Sending
from mudra.metrics.ports import Members
from mudra.shared.refusal import PlainRefusal, ValueRefused

_MAX_LISTED: Final = MAX_A_DAY * (RETENTION.days + 1)
_MAX_PUBLIC: Final = 100
"""Of the open data: the current ones and the latest of those that are over."""


class AnnouncementService(Struct, frozen=True):
    """Changes announcements in the caller's transaction, each with its audit entry."""

    store: Announcements
    members: Members
    audit_log: AuditLog
    new_id: Callable[[], str]

    async def list(self, now: datetime, *, past: bool = False) -> Sequence[Announcement]:
        """Returns current and scheduled ones, last published first; with `past` ended ones too."""
        return await self.store.latest(now - RETENTION if past else now, _MAX_LISTED)

    async def public(self, now: datetime) -> Sequence[Announcement]:
        """Returns those that the public status shows, the last published first.

        All current ones are among them, however many others were published since.
        """
        found = await self.list(now, past=True)
        current = [one for one in found if one.state(now) is State.CURRENT]
        over = [one for one in found if one.state(now) is State.OVER and not one.was_withdrawn]
        shown = {one.announcement_id for one in (*current, *over[: _MAX_PUBLIC - len(current)])}
        return [one for one in found if one.announcement_id in shown]

    async def find(self, announcement_id: str, now: datetime) -> Announcement | NoSuchAnnouncement:
        """Returns one that is current or scheduled."""
        found = await self.store.unended(announcement_id, now)
        return NoSuchAnnouncement() if found is None else found

    async def publish(
        self, command: AnnouncementCommand, caller: Caller, now: datetime
    ) -> Announcement | ValueRefused | PlainRefusal:
        """Publishes an announcement, now or later; its subscribers are written to then."""
        public = await self.members.onboarded_fips()
        made = new_announcement(command, self.new_id(), caller.actor, now, public)
        if isinstance(made, ValueRefused):
            return made
        await self.store.make_alone()
        unended = await self.store.latest(now, MAX_UNENDED)
        if made.incident_id and made.incident_id in {one.incident_id for one in unended}:
            return ANNOUNCED_BEFORE
        if len(unended) >= MAX_UNENDED or await self.store.made_since(now - COUNTED) >= MAX_A_DAY:
            return TOO_MANY_ANNOUNCEMENTS
        await self.store.add(made)
        await self._note(EventName.METRICS_ANNOUNCEMENT_PUBLISH, made, caller)
        return made

    async def change(
        self, announcement_id: str, command: AnnouncementCommand, caller: Caller, now: datetime
    ) -> Announcement | ValueRefused | NoSuchAnnouncement:
        """Changes one that is not over; who was written to is not written to again."""
        before = await self.find(announcement_id, now)
        if isinstance(before, NoSuchAnnouncement):
            return before
        public = await self.members.onboarded_fips()
        after = changed_announcement(before, command, now, public)
        if isinstance(after, ValueRefused):
            return after
        await self.store.put(after)
        await self._note(EventName.METRICS_ANNOUNCEMENT_CHANGE, after, caller)
        return after

    async def update(
        self, announcement_id: str, command: UpdateCommand, caller: Caller, now: datetime
    ) -> Announcement | ValueRefused | PlainRefusal | NoSuchAnnouncement:
        """Adds an update to one that is shown, and sends it to the subscribers."""
        before = await self.find(announcement_id, now)
        if isinstance(before, NoSuchAnnouncement):
            return before
        after = updated_announcement(before, command, now)
        if not isinstance(after, Announcement):
            return after
        await self.store.put(after)
        await self.store.send_again(announcement_id)
        update = after.updates[-1]
        detail = {
            "announcementId": announcement_id,
            "text": update.text,
            "ends": "yes" if command.ends else "",
        }
        for each in update.translations:
            detail[f"text:{each.language}"] = each.text
        entry = AuditEntry(EventName.METRICS_ANNOUNCEMENT_UPDATE, caller, detail=detail)
        await self.audit_log.append(entry)
        return after

    async def about(self, incident_id: str, now: datetime) -> Sequence[Announcement]:
        """Returns the announcements about an incident, the last published first."""
        found = await self.store.latest(now - RETENTION, _MAX_LISTED)
        return [one for one in found if one.incident_id == incident_id]

    async def end(
        self, announcement_id: str, caller: Caller, now: datetime
    ) -> Announcement | NoSuchAnnouncement:
        """Moves one to the history; one that was not published yet is never seen."""
        before = await self.find(announcement_id, now)
        if isinstance(before, NoSuchAnnouncement):
            return before
        after = replace(before, ended_at=now)
        await self.store.put(after)
        detail = {"announcementId": announcement_id}
        entry = AuditEntry(EventName.METRICS_ANNOUNCEMENT_END, caller, detail=detail)
        await self.audit_log.append(entry)
        return after

    async def next_to_send(self, now: datetime, but: Collection[str] = ()) -> Sending | None:
        """Takes one whose subscribers were not all written to; one that is over is sent no more.

        It is none of `but`, by their IDs.
        """
        while (found := await self.store.take_unsent(now, but)) is not None:
            if found.announcement.is_to_send(now):
                return found
            await self.sent(found, found.after, done=True)
        return None

    async def sent(self, sending: Sending, after: str, *, done: bool) -> None:
        """Records the last subscription that was written to."""
        await self.store.sent(sending.announcement.announcement_id, after, done=done)

    async def _note(self, event: EventName, one: Announcement, caller: Caller) -> None:
        detail = {
            "announcementId": one.announcement_id,
            "kind": one.kind.value,
            "title": one.title,
            "text": one.text,
            "fipIds": ", ".join(one.fip_ids),
            "publishAt": one.publish_at.isoformat(),
            "ends": one.ends.isoformat() if one.ends else "",
            "incidentId": one.incident_id,
        }
        for each in one.translations:
            detail[f"title:{each.language}"] = each.title
            detail[f"text:{each.language}"] = each.text
        await self.audit_log.append(AuditEntry(event, caller, detail=detail))
