"""Makes the reports of a month for all members, some FIPs at a time."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import structlog

from mudra.audit.event import Caller
from mudra.levels.gathering import Network, evidence_of, pair_calls
from mudra.levels.level_service import NETWORK, LevelService
from mudra.levels.months import month_before
from mudra.levels.report_store import Sign
from mudra.levels.spans import Member
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import OpenTransaction

OF_A_SHARE: Final = 64
"""FIPs that are read together: a few megabytes, and the blocks of outages at one time once."""
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
    fips = {one.entity_id: one for one in members if one.role is EntityType.FIP}
    async with open_tx(within_s=SHARE_S) as tx:
        network = await tx.service(LevelService).network(within, now)
    number, shares = 0, shares_of(len(fips))
    for share in range(shares):
        number += await _of_share(open_tx, sign, network, now, fips, (share, shares))
    for one in (*fips.values(), *(one for one in members if one.role is EntityType.AA), NETWORK):
        # What is left of the FIPs had no call in the period.
        async with open_tx(within_s=SHARE_S) as tx:
            service = tx.service(LevelService)
            evidence = await service.gathering.evidence(one, network)
            before = await service.reports.latest([one.entity_id], within)
            made = await service.version(one, network, evidence, before, SYSTEM, now, sign)
            number += made is not None
    return number


def shares_of(fips: int) -> int:
    """Returns into how many parts so many FIPs are divided: a power of two, none of none."""
    return 1 << (-(-fips // OF_A_SHARE) - 1).bit_length() if fips else 0


async def _of_share(
    open_tx: OpenTransaction,
    sign: Sign,
    network: Network,
    now: datetime,
    fips: dict[str, Member],
    share: tuple[int, int],
) -> int:
    async with open_tx(within_s=SHARE_S) as tx:
        service = tx.service(LevelService)
        gathering = service.gathering
        calls = await gathering.of_share(network.within, share)
        members = [fips.pop(fip_id) for fip_id in sorted(calls) if fip_id in fips]
        apart = await gathering.apart(members, network)
        before = await service.reports.latest([*apart], network.within)
        number = 0
        for one in members:
            # One FIP after the other: those of a share take 100 MB as tuples.
            whole = pair_calls(calls[one.entity_id])
            evidence = evidence_of(one, network, whole, apart[one.entity_id])
            made = await service.version(one, network, evidence, before, SYSTEM, now, sign)
            number += made is not None
        return number
