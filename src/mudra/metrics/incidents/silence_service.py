"""Starting, ending and listing silences, and what webhooks hear of planned maintenances."""

import enum
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.memberships.admins import no_such_entity
from mudra.metrics.incidents.own_maintenance import (
    HAS_BEGUN,
    WEEK,
    MaintenanceChange,
    announcer_of,
    over_limit,
    own_maintenance,
    with_notice_of,
)
from mudra.metrics.incidents.silence import Silence, SilenceCommand, new_silence
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.ports import CountAlone, Members, Silences
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused

RETENTION: Final = timedelta(days=90)
"""How long a silence can be looked up after its end; the audit log keeps it longer."""
SHOWN_FOR: Final = timedelta(hours=24)
"""How long the public status shows a maintenance after its end."""


NO_SUCH_SILENCE: Final = PlainRefusal(
    RefusalKind.NOT_FOUND, "no active or scheduled silence of this ID"
)


class MaintenanceEvent(enum.StrEnum):
    """The `type` of a message about a planned maintenance.

    That one begins or ends has no message: its times say so from its announcement on.
    """

    ANNOUNCED = "maintenance.announced"
    CHANGED = "maintenance.changed"
    WITHDRAWN = "maintenance.withdrawn"


class MaintenanceData(Struct, rename="camel", kw_only=True):
    """The maintenance in a message; without its reason, which the public status has not either."""

    silence_id: str
    entity_id: str
    begins: datetime
    ends: datetime
    announced_at: datetime | None
    announced_by: str
    """`member` or `operator`."""


class MaintenanceMessage(Struct):
    """The body of a message."""

    type: str
    timestamp: datetime
    data: MaintenanceData


class SilenceService(Struct, frozen=True):
    """Changes silences in the caller's transaction, each with its audit entry.

    What is new about a planned maintenance goes to webhooks: of its member, of FIUs that name the
    FIP, and of the network.
    """

    store: Silences
    members: Members
    messages: Webhooks
    audit_log: AuditLog
    count_alone: CountAlone
    new_id: Callable[[], str]

    async def list(self, now: datetime, *, past: bool = False) -> Sequence[Silence]:
        """Returns active and scheduled silences, earliest end first; with `past` ended ones too."""
        return await self.store.ending_after(now - RETENTION if past else now)

    async def own(self, entity_id: str, now: datetime) -> Sequence[Silence]:
        """Returns the active and scheduled maintenances of one entity, earliest end first."""
        found = await self.store.ending_after(now)
        return [one for one in found if one.maintenance and one.entity_id == entity_id]

    async def public(self, now: datetime) -> Sequence[Silence]:
        """Returns the maintenances that all may see: earliest end first, then those of a day ago.

        One that was ended before it began is none.
        """
        found = await self.store.ending_after(now - SHOWN_FOR)
        planned = [one for one in found if one.maintenance and one.has_time]
        over = [one for one in reversed(planned) if one.ends <= now]
        return [*(one for one in planned if one.ends > now), *over]

    async def announce(
        self, command: SilenceCommand, caller: Caller, now: datetime
    ) -> Silence | ValueRefused | PlainRefusal:
        """Begins a maintenance that a member announces for itself, with the next window or later.

        What has begun by now is judged: no one could read before that it was planned.
        """
        planned = own_maintenance(command, self.new_id(), now)
        if isinstance(planned, ValueRefused):
            return planned
        refused = over_limit(planned, await self._announced(command.entity_id, now), now)
        if refused is not None:
            return refused
        await self.store.add(planned)
        await self._note(EventName.METRICS_SILENCE_BEGIN, planned, caller)
        await self._send(None, planned, now)
        return planned

    async def change(
        self, silence_id: str, change: MaintenanceChange, caller: Caller, now: datetime
    ) -> Silence | ValueRefused | PlainRefusal:
        """Changes a maintenance that its member announced and that has not begun.

        Any part of it that was not announced before counts as announced now, and so does all of it.
        """
        own = await self._announced(change.entity_id, now)
        known = [one for one in own if one.silence_id == silence_id and one.ends > now]
        if not known:
            return NO_SUCH_SILENCE
        before = known[0]
        if before.begins <= now:
            return HAS_BEGUN
        planned = own_maintenance(change.applied_to(before), silence_id, now)
        if isinstance(planned, ValueRefused):
            return planned
        changed = with_notice_of(before, planned)
        refused = over_limit(changed, [one for one in own if one is not before], now)
        if refused is not None:
            return refused
        await self.store.change(changed)
        await self._note(EventName.METRICS_SILENCE_CHANGE, changed, caller)
        await self._send(before, changed, now)
        return changed

    async def begin(
        self, command: SilenceCommand, caller: Caller, now: datetime
    ) -> Silence | ValueRefused | PlainRefusal:
        """Stops alarms about some subjects for some time."""
        for entity_id in (command.entity_id, command.peer_id):
            if entity_id and not await self.members.is_member(entity_id):
                return no_such_entity(entity_id)
        silence = new_silence(command, self.new_id(), caller.actor, now)
        if isinstance(silence, ValueRefused):
            return silence
        await self.store.add(silence)
        await self._note(EventName.METRICS_SILENCE_BEGIN, silence, caller)
        await self._send(None, silence, now)
        return silence

    async def _announced(self, entity_id: str, now: datetime) -> Sequence[Silence]:
        """Returns what a member announced that limits it; until the end no one adds to it."""
        await self.count_alone(f"maintenance:{entity_id}")
        return [
            one
            for one in await self.store.ending_after(now - WEEK)
            if one.maintenance and one.made_by == announcer_of(entity_id)
        ]

    async def _note(self, event: EventName, silence: Silence, caller: Caller) -> None:
        detail = {"silenceId": silence.silence_id, "type": silence.type}
        if silence.peer_id:
            detail["peerId"] = silence.peer_id
        if silence.maintenance:
            detail["maintenance"] = "true"
        times = {"begins": silence.begins.isoformat(), "ends": silence.ends.isoformat()}
        await self.audit_log.append(
            AuditEntry(
                event,
                caller,
                silence.entity_id,
                reason=silence.reason,
                detail={**detail, **times},
            )
        )

    async def end(
        self, silence_id: str, caller: Caller, now: datetime, *, own_of: str = ""
    ) -> Silence | PlainRefusal:
        """Ends a silence now; alarms resume for incidents that continue.

        With `own_of` only a maintenance of this entity.
        """
        known = await (self.own(own_of, now) if own_of else self.store.ending_after(now))
        before = next((one for one in known if one.silence_id == silence_id), None)
        ended = before and await self.store.end(silence_id, now, caller.actor)
        if ended is None:
            return NO_SUCH_SILENCE
        detail = {"silenceId": silence_id}
        await self.audit_log.append(
            AuditEntry(EventName.METRICS_SILENCE_END, caller, ended.entity_id, detail=detail)
        )
        await self._send(before, ended, now)
        return ended

    async def _send(self, before: Silence | None, after: Silence, now: datetime) -> None:
        event = _event_of(before, after)
        if not after.maintenance or event is None:
            return
        shown = before if before and event is MaintenanceEvent.WITHDRAWN else after
        entity_id = after.entity_id
        body = maintenance_body(event, shown, now)
        await self.messages.post([entity_id], body, now, event=event.value, fip_id=entity_id)


def _event_of(before: Silence | None, after: Silence) -> MaintenanceEvent | None:
    """Returns what is new about a maintenance; None where its times are those of before."""
    if before is None:
        return MaintenanceEvent.ANNOUNCED
    if not after.has_time:
        return MaintenanceEvent.WITHDRAWN
    same = (before.begins, before.ends) == (after.begins, after.ends)
    return None if same else MaintenanceEvent.CHANGED


def maintenance_body(event: MaintenanceEvent, one: Silence, now: datetime) -> bytes:
    """Returns the body of a message: of one that was withdrawn with the times that it had."""
    data = MaintenanceData(
        silence_id=one.silence_id,
        entity_id=one.entity_id,
        begins=one.begins,
        ends=one.ends,
        announced_at=one.announced_at,
        announced_by="member" if one.made_by == announcer_of(one.entity_id) else "operator",
    )
    return msgspec.json.encode(MaintenanceMessage(event.value, now, data))
