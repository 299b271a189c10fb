"""Works out the budgets of all members, some FIPs at a time."""

from collections.abc import Sequence

import structlog

from mudra.levels.budgets.budget_service import BudgetService, Networks
from mudra.levels.gathering import calls_of, evidence_of
from mudra.levels.monthly import SHARE_S, shares_of
from mudra.levels.spans import Member
from mudra.shared.entity_type import EntityType
from mudra.storage.database.transaction import OpenTransaction

_log = structlog.get_logger()


async def work_out_budgets(open_tx: OpenTransaction) -> int:
    """Stores the budgets of the month that runs, and sends alarms; returns how many.

    Interrupted anywhere, the next run goes on: no alarm is sent twice.
    """
    async with open_tx(within_s=SHARE_S) as tx:
        service, now = tx.service(BudgetService), await tx.now()
        networks = await service.networks(now)
        members = await service.levels.reports.members(now)
    if networks is None:
        return 0
    fips = [one for one in members if one.role is EntityType.FIP]
    alarms = 0
    for share in shares_of(fips):
        alarms += await _of_share(open_tx, share, networks)
    for one in members:
        if one.role is EntityType.AA:
            async with open_tx(within_s=SHARE_S) as tx:
                service, now = tx.service(BudgetService), await tx.now()
                evidence = [await service.gathering.evidence(one, each) for each in networks.found]
                alarms += await service.work_out(one, networks, now, evidence)
    _log.info("budgets of levels worked out", members=len(members), alarms=alarms)
    return alarms


async def _of_share(open_tx: OpenTransaction, fips: Sequence[Member], networks: Networks) -> int:
    async with open_tx(within_s=SHARE_S) as tx:
        service, now = tx.service(BudgetService), await tx.now()
        gathering = service.gathering
        calls = [await gathering.of_fips(within, fips) for within in networks.times.ranges]
        members = [one for one in fips if one.entity_id in calls[0]]
        apart = [await gathering.apart(members, one) for one in networks.found]
        alarms = 0
        for member in members:
            fip_id = member.entity_id
            # One FIP after the other: as tuples, those of a share take six times the memory.
            whole = [[*calls_of(one[fip_id], "aa")] if fip_id in one else () for one in calls]
            evidence = [
                evidence_of(member, network, of_one, spans[fip_id])
                for network, of_one, spans in zip(networks.found, whole, apart, strict=True)
            ]
            alarms += await service.work_out(member, networks, now, evidence)
        return alarms
