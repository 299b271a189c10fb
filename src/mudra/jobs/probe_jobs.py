"""Runs the probes that operators asked for."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from mudra.registry.probe.probe import ProbeResult, WaitingProbe
from mudra.unit_of_work import OpenUnitOfWork

_AT_ONCE: Final = 5
RunProbe: TypeAlias = Callable[[WaitingProbe], Awaitable[ProbeResult]]


async def run_probes(open_work: OpenUnitOfWork, run: RunProbe) -> None:
    """Run every probe that waits, some at a time; no connection is held while a server answers.

    One that dies in between leaves its probes waiting, for the next run.
    """

    async def one(waiting: WaitingProbe) -> None:
        result = await run(waiting)
        async with open_work() as work:
            await work.probes.complete(waiting, result)

    while True:
        async with open_work() as work:
            found = await work.probes.probes.waiting(_AT_ONCE)
        await asyncio.gather(*map(one, found))
        if len(found) < _AT_ONCE:
            return
