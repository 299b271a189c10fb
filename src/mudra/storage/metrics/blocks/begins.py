"""Sums of many short times, such as outages, each at its begin: their blocks are read together."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final, NamedTuple

import numpy as np

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import HOUR
from mudra.metrics.sums.adding import RunningSum
from mudra.metrics.sums.cells import Array, Cells, Names
from mudra.metrics.sums.selection import StaleSums, of_aas
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import NOT, REQ, Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted
from mudra.storage.metrics.blocks.stale_sums import stale_sums

_WINDOWS: Final = 2**31
"""More than there are since 1970."""


class _At(NamedTuple):
    """Hours or windows of FIPs: each with the place of its FIP, in order of both."""

    wanted: Array
    begins: Array
    """The begin of the time that each is of."""

    def moved(self, cells: Cells) -> Cells:
        """Returns those cells that are wanted, each at the begin of its time."""
        found = cells.keys["fip"] * _WINDOWS + cells.keys["at"]
        place = np.minimum(np.searchsorted(self.wanted, found), len(self.wanted) - 1)
        chosen = cells.chosen(self.wanted[place] == found)
        begins = self.begins[place[self.wanted[place] == found]]
        return replace(chosen, keys={**chosen.keys, "at": begins})


async def summed_by_begin(
    tx: Transaction,
    blocks: Blocks,
    times: Mapping[str, Sequence[TimeRange]],
    aa_id: str | None,
    *,
    with_times: bool,
) -> Cells:
    """Returns the sums of each pair and type in each of these times of a FIP.

    From full hours, where no sum of these is stale, and windows. Those of one FIP have no window in
    common; what several FIPs have in common is read and decoded once.
    """
    every = [one for of_fip in times.values() for one in of_fip]
    wide = TimeRange(min(one.start for one in every), max(one.end for one in every))
    stale = {one.at for one in (await stale_sums(tx, wide)).hours}
    total = RunningSum(("fip", "at", "aa", "type"), times=with_times)
    for grain in (Grain.HOUR, Grain.WINDOW):
        asked = [
            (fip_id, at, one.first)
            for fip_id, of_fip in times.items()
            for one in of_fip
            for at in _parts(one, grain, stale)
        ]
        if asked:
            await _add(blocks, total, grain, asked, aa_id, with_times=with_times)
    return await asyncio.to_thread(total.total)


def _parts(time: TimeRange, grain: Grain, stale: set[datetime]) -> Iterator[datetime]:
    parts = of_aas(time, StaleSums(), HOUR)
    hours = parts.hours.times
    if grain is Grain.HOUR:
        yield from hours - stale
    else:
        yield from parts.windows.times
        for hour in hours & stale:
            yield from TimeRange(hour, hour + HOUR).windows


async def _add(
    blocks: Blocks,
    total: RunningSum,
    grain: Grain,
    asked: Sequence[tuple[str, datetime, datetime]],
    aa_id: str | None,
    *,
    with_times: bool,
) -> None:
    fips = defaultdict[datetime, set[str]](set)
    for fip_id, time, _ in asked:
        fips[time].add(fip_id)
    at = {time: frozenset(found) for time, found in fips.items()}
    of_all = frozenset(fip_id for fip_id, _, _ in asked)
    form, which = Form(times=with_times, fip_ids=of_all, at=at), _at(asked, blocks.names)

    def add(some: Sequence[Cells]) -> None:
        for one in some:
            total.add(which.moved(one))

    async for some in blocks.parts(Wanted(grain, (REQ, NOT), aa_id, frozenset(at)), form):
        await asyncio.to_thread(add, some)


def _at(asked: Sequence[tuple[str, datetime, datetime]], names: Names) -> _At:
    places = names.places([fip_id for fip_id, _, _ in asked])
    wanted = places * _WINDOWS + np.array([window_number(at) for _, at, _ in asked])
    begins = np.array([window_number(begin) for _, _, begin in asked])
    order = np.argsort(wanted)
    return _At(wanted[order], begins[order])
