"""Runs the probes that operators asked for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

import structlog

from mudra.registry.probe.probe import ProbeResult, WaitingProbe
from mudra.registry.probe.probe_service import ProbeService
from mudra.shared.unavailable import ServiceUnavailable
from mudra.storage.database.transaction import OpenTransaction

_AT_ONCE: Final = 5
_log = structlog.get_logger()
RunProbe: TypeAlias = Callable[[WaitingProbe], Awaitable[ProbeResult]]


async def run_probes(open_transaction: OpenTransaction, run: RunProbe) -> None:
    """Run every probe that waits, some at a time; no connection is held while a server answers.

    One that dies in between leaves its probes waiting, for the next run. A probe that fails in
    itself is done all the same: waiting on, it would keep others from their turn.
    """

    async def one(waiting: WaitingProbe) -> None:
        result = await _outcome(run, waiting)
        async with open_transaction() as tx:
            await tx.service(ProbeService).complete(waiting, result)

    while True:
        async with open_transaction() as tx:
            found = await tx.service(ProbeService).probes.waiting(_AT_ONCE)
        await asyncio.gather(*map(one, found))
        if len(found) < _AT_ONCE:
            return


async def _outcome(run: RunProbe, waiting: WaitingProbe) -> ProbeResult:
    try:
        return await run(waiting)
    except ServiceUnavailable:
        raise
    except Exception as error:  # noqa: BLE001  # by a stranger's server, likely
        _log.exception("probe failed", entity_id=waiting.entity_id)
        return ProbeResult(0, f"the probe failed: {type(error).__name__}", "nothing was learned")
