"""Sums of many short times, such as outages, each at its begin: read together, window by window."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.adding import RunningSum
from mudra.metrics.sums.cells import Array, Cells, Names
from mudra.storage.metrics.blocks.grain import NOT, REQ, Grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted

_WINDOWS: Final = 2**31
"""More than there are since 1970."""


async def summed_by_begin(
    blocks: Blocks,
    times: Mapping[str, Sequence[TimeRange]],
    aa_id: str | None,
    *,
    with_times: bool,
) -> Cells:
    """Returns the sums of each pair and type in each of these times of a FIP.

    Those of one FIP have no window in common, so that each block is read and decoded once.
    """
    fips = defaultdict[datetime, set[str]](set)
    for fip_id, of_fip in times.items():
        for window in (one for each in of_fip for one in each.windows):
            fips[window].add(fip_id)
    at = {window: frozenset(found) for window, found in fips.items()}
    form = Form(times=with_times, fip_ids=frozenset(times), at=at)
    begins, total = _begins(times, blocks.names), RunningSum(times=with_times)

    def add(some: Sequence[Cells]) -> None:
        for one in some:
            total.add(_at_begins(one, begins))

    async for some in blocks.parts(Wanted(Grain.WINDOW, (REQ, NOT), aa_id, frozenset(at)), form):
        await asyncio.to_thread(add, some)
    return await asyncio.to_thread(total.total)


def _begins(times: Mapping[str, Sequence[TimeRange]], names: Names) -> Array:
    """Returns the begins of all times, each with the place of its FIP, in order of both."""
    places = names.places([*times]).tolist()
    return np.sort(
        [
            place * _WINDOWS + window_number(one.first)
            for place, of_fip in zip(places, times.values(), strict=True)
            for one in of_fip
        ]
    )


def _at_begins(cells: Cells, begins: Array) -> Cells:
    """Returns cells of windows in these times, each at the begin of its FIP's."""
    windows = cells.keys["fip"] * _WINDOWS + cells.keys["at"]
    found = begins[np.searchsorted(begins, windows, "right") - 1] % _WINDOWS
    return replace(cells, keys={**cells.keys, "at": found})
