"""Notices about capacity: a webhook message when one appears, and one when it is over.

Looked for once a week: a forecast is of whole weeks. Where no forecast can be made, because reports
are missing, a notice stays as it is.
"""

import enum
from collections.abc import Mapping
from datetime import date, datetime

import msgspec
from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.comparison.capacity_store import CapacityNotice, CapacityNotices
from mudra.comparison.forecast import Busiest
from mudra.comparison.volume_service import VolumeService
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.storage.database.transaction import OpenTransaction

_SUBJECT_S = 60.0
_SYSTEM = Caller("system")


class CapacityEvent(enum.StrEnum):
    """The `type` of a message about a notice."""

    NOTICE = "capacity.notice"
    OVER = "capacity.over"


class CapacityMessage(Struct):
    """The body of a message: the notice as it was announced."""

    type: str
    timestamp: datetime
    data: CapacityNotice


class CapacityService(Struct, frozen=True):
    """Announces notices in the caller's transaction, each once, with its audit entry."""

    volume: VolumeService
    notices: CapacityNotices
    messages: Webhooks
    audit_log: AuditLog

    async def look(
        self,
        entity_id: str,
        now: datetime,
        complete: Mapping[date, bool],
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> int:
        """Announces what is new about one subject (empty: the network); returns how many."""
        expected, found = await self.volume.outlook(now, complete, aa_id=aa_id, fip_id=fip_id)
        known = await self.notices.find(entity_id)
        if found is not None and known is None:
            made = _notice(entity_id, now, found)
            await self.notices.add(made)
            await self._say(CapacityEvent.NOTICE, made, now)
            return 1
        if expected is not None and found is None and known is not None:
            return await self.end(known, now)
        return 0

    async def end(self, known: CapacityNotice, now: datetime) -> int:
        """Says of a notice that it is over; returns 1."""
        await self.notices.remove(known.entity_id)
        await self._say(CapacityEvent.OVER, known, now)
        return 1

    async def _say(self, event: CapacityEvent, one: CapacityNotice, now: datetime) -> None:
        whom = [one.entity_id] if one.entity_id else []
        await self.messages.post(whom, capacity_body(event, one, now), now, event=event.value)
        name = (
            EventName.METRICS_CAPACITY_NOTICE
            if event is CapacityEvent.NOTICE
            else EventName.METRICS_CAPACITY_OVER
        )
        detail: Mapping[str, str | int] = {
            "day": one.day.isoformat(),
            "atMost": one.at_most,
            "handledDay": one.handled_day.isoformat(),
            "handled": one.handled,
        }
        await self.audit_log.append(AuditEntry(name, _SYSTEM, one.entity_id, detail=detail))


async def look_for_notices(open_tx: OpenTransaction) -> int:
    """Looks at the network, each AA and each FIP; returns how many messages there were."""
    async with open_tx(within_s=_SUBJECT_S) as tx:
        service, now = tx.service(CapacityService), await tx.now()
        health = service.volume.health
        aas = sorted(await health.members.reporting_aas())
        fips = sorted(await health.onboarded_fips())
        whole = await service.volume.complete_days(now)
        messages = await service.look("", now, whole)
        for one in await service.notices.all():
            if one.entity_id and one.entity_id not in {*aas, *fips}:
                messages += await service.end(one, now)
    for aa_id in aas:
        async with open_tx(within_s=_SUBJECT_S) as tx:
            service = tx.service(CapacityService)
            own = await service.volume.complete_days(now, aa_id)
            messages += await service.look(aa_id, now, own, aa_id=aa_id)
    for fip_id in fips:
        async with open_tx(within_s=_SUBJECT_S) as tx:
            service = tx.service(CapacityService)
            messages += await service.look(fip_id, now, whole, fip_id=fip_id)
    return messages


def _notice(entity_id: str, now: datetime, found: Busiest) -> CapacityNotice:
    expected = found.expected
    return CapacityNotice(
        entity_id,
        now,
        expected.day,
        expected.calls,
        expected.high,
        found.handled_day,
        found.handled,
    )


def capacity_body(event: CapacityEvent, one: CapacityNotice, now: datetime) -> bytes:
    """Returns the body of a message."""
    return msgspec.json.encode(CapacityMessage(event.value, now, one))
