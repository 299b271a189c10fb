"""Works out the budgets of members in the caller's transaction, and sends an alarm once for each.

An alarm is sent when the outlook becomes worse than any that was announced in the month, as alarms
of incidents are: by email or webhook as its reader likes, and not in quiet hours. While a
silence covers the member, none is sent and none counts as announced: the next run sends it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.levels.budgets.burn_message import EVENT, alarm_of, body_of
from mudra.levels.budgets.burn_rule import LONG, SHORT, Burn, Outlook, Seen, burns_of
from mudra.levels.budgets.burn_store import Burns, StoredBurn
from mudra.levels.calculation import figures
from mudra.levels.evidence import Evidence
from mudra.levels.gathering import Gathering, Network
from mudra.levels.level_service import LevelService
from mudra.levels.months import month_of
from mudra.levels.spans import Member
from mudra.metrics.incidents.incident import AaCalls, Fip, Subject
from mudra.metrics.incidents.silence import is_silenced
from mudra.metrics.notifications.alarm_mailer import AlarmMailer
from mudra.metrics.notifications.webhook_store import Webhooks
from mudra.metrics.rollup.coverage import TimeRange, due_until
from mudra.metrics.sums.percentiles import percentiles_of
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import Transaction

_SYSTEM: Final = Caller("system")
_DAY: Final = timedelta(days=1)


class Times(Struct, frozen=True):
    """The month that runs, its part so far, and the two windows that end at the same time."""

    month: TimeRange
    so_far: TimeRange
    week: TimeRange
    day: TimeRange

    @property
    def ranges(self) -> tuple[TimeRange, TimeRange, TimeRange]:
        """The three times of which figures are needed."""
        return self.so_far, self.week, self.day


class Networks(Struct, frozen=True):
    """Facts that the budgets of all members share: the times, and the network in each of them."""

    at: datetime
    """When they are worked out."""
    times: Times
    found: Sequence[Network]


def times_of(now: datetime, zone: ZoneInfo) -> Times | None:
    """Returns the times of budgets; None on the first day of a month, which says nothing yet.

    They end where reports are due, so a report that is late is missing here as in incidents.
    """
    end = due_until(now)
    month = month_of(end, zone)
    if end - month.start < _DAY:
        return None
    return Times(
        month,
        TimeRange(month.start, end),
        TimeRange(end - LONG, end),
        TimeRange(end - SHORT, end),
    )


class BudgetService(Struct, frozen=True):
    """Works in the caller's transaction; each alarm has its audit entry."""

    tx: Transaction
    levels: LevelService
    burns: Burns
    messages: Webhooks
    mailer: AlarmMailer

    @property
    def gathering(self) -> Gathering:
        """Reads the calls of budgets."""
        return replace(self.levels.gathering, times=False)

    async def of_now(
        self, now: datetime, *, entity_id: str | None = None, in_danger: bool = False
    ) -> Sequence[StoredBurn]:
        """Returns the budgets of the month that runs, the emptiest first."""
        month = month_of(due_until(now), ZoneInfo(self.levels.zone))
        return await self.burns.of_month(month.start, entity_id=entity_id, in_danger=in_danger)

    async def networks(self, now: datetime) -> Networks | None:
        """Returns what all members share; None while there is nothing to work out."""
        times = times_of(now, ZoneInfo(self.levels.zone))
        if times is None or not await self.levels.reports.reported(times.so_far):
            return None
        return Networks(now, times, [await self.levels.network(one, now) for one in times.ranges])

    async def work_out(
        self,
        member: Member,
        networks: Networks,
        now: datetime,
        evidence: Sequence[Evidence],
    ) -> int:
        """Stores the budgets of a member; returns how many alarms were sent.

        `evidence` is that of each of the times.
        """
        targets = [one for one in networks.found[0].targets if one.role is member.role]
        seen = [
            await asyncio.to_thread(figures, one, member.role, targets, percentiles_of)
            for one in evidence
        ]
        times = networks.times
        burns = burns_of(Seen(*seen), times.month, times.so_far.end)
        return await self._stored(member, burns, networks, now)

    async def _stored(
        self, member: Member, burns: Sequence[Burn], networks: Networks, now: datetime
    ) -> int:
        month = networks.times.month.start
        announced = await self.burns.announced(member.entity_id, month)
        silences = await self.levels.silences.ending_after(now) if burns else ()
        silent = is_silenced(_subject(member), silences, now)
        sent = 0
        for burn in burns:
            stored = StoredBurn(member.entity_id, month, networks.at, burn)
            known = announced.get(burn.measure, Outlook.WITHIN)
            worse = burn.outlook.is_worse_than(known) and not silent
            await self.burns.put(stored, burn.outlook if worse else known)
            if worse:
                await self._announce(member, stored, now)
                sent += 1
        return sent

    async def _announce(self, member: Member, stored: StoredBurn, now: datetime) -> None:
        entity_id, burn = stored.entity_id, stored.burn
        await self.mailer.send_of_member(entity_id, [alarm_of(member, stored)], now)
        await self.messages.post([entity_id], body_of(stored), now, event=EVENT)
        detail: Mapping[str, str | int] = {
            "month": stored.month.isoformat(),
            "measure": burn.measure.value,
            "outlook": burn.outlook.value,
            "allowed": burn.allowed,
            "spent": burn.spent,
        }
        await self.levels.audit_log.append(
            AuditEntry(EventName.LEVELS_BUDGET_ALARM, _SYSTEM, entity_id, detail=detail)
        )


def _subject(member: Member) -> Subject:
    return AaCalls(member.entity_id) if member.role is EntityType.AA else Fip(member.entity_id)
