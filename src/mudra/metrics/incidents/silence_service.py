"""Starting, ending and listing silences."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.metrics.incidents.silence import Silence, SilenceCommand, SilenceRefused, new_silence
from mudra.metrics.ports import Members, NotAMember, Silences
from mudra.shared.refusal import Refusal

RETENTION: Final = timedelta(days=90)
"""How long a silence can be looked up after its end; the audit log keeps it longer."""


class NoSuchSilence(Refusal, frozen=True):
    """No active or scheduled silence has this ID."""


class SilenceService(Struct, frozen=True):
    """Changes silences in the caller's transaction, each with its audit entry."""

    store: Silences
    members: Members
    audit_log: AuditLog
    new_id: Callable[[], str]

    async def list(self, now: datetime, *, past: bool = False) -> Sequence[Silence]:
        """Returns active and scheduled silences, earliest end first; with `past` ended ones too."""
        return await self.store.ending_after(now - RETENTION if past else now)

    async def begin(
        self, command: SilenceCommand, caller: Caller, now: datetime
    ) -> Silence | SilenceRefused | NotAMember:
        """Stops alarms about some subjects for some time."""
        if command.entity_id and not await self.members.is_member(command.entity_id):
            return NotAMember(command.entity_id)
        silence = new_silence(command, self.new_id(), caller.actor, now)
        if isinstance(silence, SilenceRefused):
            return silence
        await self.store.add(silence)
        detail = {"silenceId": silence.silence_id, "type": silence.type}
        times = {"begins": silence.begins.isoformat(), "ends": silence.ends.isoformat()}
        await self.audit_log.append(
            AuditEntry(
                EventName.METRICS_SILENCE_BEGIN,
                caller,
                silence.entity_id,
                reason=silence.reason,
                detail={**detail, **times},
            )
        )
        return silence

    async def end(self, silence_id: str, caller: Caller, now: datetime) -> Silence | NoSuchSilence:
        """Ends a silence now; alarms resume for incidents that continue."""
        ended = await self.store.end(silence_id, now)
        if ended is None:
            return NoSuchSilence()
        detail = {"silenceId": silence_id}
        await self.audit_log.append(
            AuditEntry(EventName.METRICS_SILENCE_END, caller, ended.entity_id, detail=detail)
        )
        return ended
