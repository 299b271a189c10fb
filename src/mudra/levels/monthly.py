"""Makes the reports of a month for all members, some FIPs at a time."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from mudra.audit.event import Caller
from mudra.levels.gathering import Network, calls_of, evidence_of
from mudra.levels.level_service import NETWORK, LevelService
from mudra.levels.months import month_before
from mudra.levels.report_store import Sign
from mudra.levels.spans import Member
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.buckets import FANS, bucket_of
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import OpenTransaction

OF_A_SHARE: Final = 128
"""FIPs that are read together, of about as many in a nation's block of a day: with an outage each,
their calls take 130 MB as columns."""
SHARE_S: Final = 300.0
LATE_FOR: Final = timedelta(days=9)
"""A report of an AA is accepted for seven days: until then a month may get a further version."""
SYSTEM: Final = Caller("system")
_log = structlog.get_logger()


async def make_last_month(open_tx: OpenTransaction, sign: Sign) -> int:
    """Makes the reports of the last month, and further versions where late reports changed it.

    Returns how many were made. Interrupted anywhere, it goes on with the next run.
    """
    async with open_tx(within_s=SHARE_S) as tx:
        service, now = tx.service(LevelService), await tx.now()
        within = month_before(now, ZoneInfo(service.zone))
        if not await service.reports.reported(within):
            return 0
        made = await service.reports.made_of(within)
        members = await service.reports.members(within.end)
    if now >= within.end + LATE_FOR:
        members = [one for one in members if one.entity_id not in made]
        if not members and NETWORK.entity_id in made:
            return 0
    number = await make_all(open_tx, sign, within, members, now)
    _log.info("reports of levels made", month=within.start.isoformat(), versions=number)
    return number


async def make_all(
    open_tx: OpenTransaction,
    sign: Sign,
    within: TimeRange,
    members: Sequence[Member],
    now: datetime,
) -> int:
    """Makes the reports of these members and of the network; returns how many versions."""
    fips = [one for one in members if one.role is EntityType.FIP]
    async with open_tx(within_s=SHARE_S) as tx:
        network = await tx.service(LevelService).network(within, now)
    number = 0
    for share in shares_of(fips):
        number += await _of_share(open_tx, sign, network, now, share)
    for one in (*(one for one in members if one.role is EntityType.AA), NETWORK):
        async with open_tx(within_s=SHARE_S) as tx:
            service = tx.service(LevelService)
            evidence = await service.gathering.evidence(one, network)
            before = await service.reports.latest([one.entity_id], within)
            made = await service.version(one, network, evidence, before, SYSTEM, now, sign)
            number += made is not None
    return number


def shares_of(fips: Sequence[Member]) -> Sequence[Sequence[Member]]:
    """Returns FIPs in shares of about `OF_A_SHARE`, which follow the buckets of blocks."""
    fan = next((one for one in FANS if len(fips) <= one * OF_A_SHARE), FANS[-1])
    found = defaultdict[int, list[Member]](list)
    for one in fips:
        found[bucket_of(one.entity_id, fan)].append(one)
    return [found[bucket] for bucket in sorted(found)]


async def _of_share(
    open_tx: OpenTransaction, sign: Sign, network: Network, now: datetime, fips: Sequence[Member]
) -> int:
    async with open_tx(within_s=SHARE_S) as tx:
        service = tx.service(LevelService)
        apart = await service.gathering.apart(fips, network)
        calls = await service.gathering.of_fips(network.within, fips)
        before = await service.reports.latest([*apart], network.within)
        number = 0
        for one in fips:
            # One FIP after the other: those of a share take 200 MB as tuples.
            whole = calls_of(calls[one.entity_id], "aa") if one.entity_id in calls else ()
            evidence = evidence_of(one, network, whole, apart[one.entity_id])
            made = await service.version(one, network, evidence, before, SYSTEM, now, sign)
            number += made is not None
        return number
