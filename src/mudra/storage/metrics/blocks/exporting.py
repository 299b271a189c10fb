"""Gives the cells of one day for an export: all of them, however large a network, some at a time.

Sums that are valid are given block by block. What is stale is added up of what is finer, AA by AA
and some FIPs at a time.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Final

from mudra.metrics.payload.catalogue import day_start, hour_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import DAY
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import KEYS, Cells
from mudra.metrics.sums.selection import OfAas, SeriesKey, Times, of_aas
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.grain import NOT, REQ, Grain, by_grain
from mudra.storage.metrics.blocks.reading import Blocks, Form, Share, Wanted, only
from mudra.storage.metrics.blocks.stale_sums import stale_sums

_TAGS: Final = (REQ, NOT)
_STARTS: Final = {Grain.HOUR: hour_start, Grain.DAY: day_start}
"""Of the grains that have finer ones."""
_SHARES: Final = 32
"""Parts of the FIPs in which stale sums are added up: of a nation's AA 20,000 cells of hours."""


async def cells_of_day(
    tx: Transaction, day: datetime, grain: Grain, aa_id: str | None, fip_id: str | None
) -> AsyncIterator[tuple[Cells, Sequence[str]]]:
    """Gives the cells of a day (UTC) with the IDs by which they are numbered.

    Of each AA, or of one; to each FIP, or to one. Raises BlockDamaged.
    """
    within = TimeRange(day, day + DAY)
    selected = of_aas(within, await stale_sums(tx, within, _TAGS), grain.length)
    valid, finer = _apart(selected, grain)
    blocks, form = Blocks(tx), Form(fip_ids=only(fip_id))
    whole = Wanted(grain, _TAGS, aa_id, valid.times, valid.without, valid.only)
    async for cells in blocks.each(whole, form):
        yield cells, blocks.names.ids
    for of_aa, parts in _by_aa(finer).items():
        if aa_id not in {None, of_aa}:
            continue
        wanted = [Wanted(one, _TAGS, of_aa, only=keys) for one, keys in parts.items()]
        shares = [form] if fip_id else [Form(share=Share(at, _SHARES)) for at in range(_SHARES)]
        for share in shares:
            found = await blocks.summed(wanted, KEYS, share)
            if len(found):
                yield await asyncio.to_thread(_of_grain, found, grain), blocks.names.ids


def _apart(selected: OfAas, grain: Grain) -> tuple[Times, Mapping[Grain, Times]]:
    parts = by_grain(selected)
    valid = parts.pop(grain)
    return valid, {one: times for one, times in parts.items() if times.only}


def _by_aa(finer: Mapping[Grain, Times]) -> Mapping[str, Mapping[Grain, frozenset[SeriesKey]]]:
    found: dict[str, dict[Grain, set[SeriesKey]]] = defaultdict(lambda: defaultdict(set))
    for grain, times in finer.items():
        for key in times.only:
            found[key.aa_id][grain].add(key)
    return {
        aa_id: {grain: frozenset(keys) for grain, keys in parts.items()}
        for aa_id, parts in sorted(found.items())
    }


def _of_grain(cells: Cells, grain: Grain) -> Cells:
    return added([cells.moved(_STARTS[grain])], KEYS)
