"""Answers questions about sums: implements metrics/ports.py RollupQueries.

Each question selects blocks (metrics/sums/selection.py), reads them and adds them up by some keys.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import msgspec
import numpy as np
import sqlalchemy as sa

from mudra.metrics.incidents.heard import Heard
from mudra.metrics.payload.catalogue import CALL_CODES, WINDOW, Tag, day_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.stale import ALL_AAS, CHARTS_KEPT, DAY, HOUR
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.adding import added, joined
from mudra.metrics.sums.cells import Cells, empty
from mudra.metrics.sums.rollup import Rollup
from mudra.metrics.sums.selection import OfAas, SeriesKey, Times, of_aas, over_aas
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.blocks.grain import ALL, NOT, REQ, Grain, number_of, time_of
from mudra.storage.metrics.blocks.reading import Blocks, Form, Wanted, types_of
from mudra.storage.metrics.blocks.stale_sums import stale_sums
from mudra.storage.metrics.stored_report import long_tag
from mudra.storage.metrics.tables import metrics_receipt

_R: Final = metrics_receipt.c
_TAGS: Final = {None: (REQ, NOT), Tag.REQUESTS: (REQ,), Tag.NOTIFICATIONS: (NOT,)}
_LONGEST: Final = {Step.WINDOW: WINDOW, Step.HOUR: HOUR, Step.SIX_HOURS: HOUR, Step.DAY: DAY}
"""The longest sums that a step of a chart is made of."""


class BlockQuestions:
    """Sums of any range, always equal to those of the reports that are counted."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction
        self._blocks = Blocks(transaction)

    async def totals(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Totals:
        """Returns the sums of each pair and type; of a single window, what was reported."""
        form = Form(fip_id=fip_id)
        if within.number == 1:
            return await self._reported(within.first, aa_id, form)
        selected = await self._of_aas(within, aa_id, (REQ, NOT))
        return self._totals(await self._blocks.summed(selected, ("aa", "type", "fip"), form))

    async def over_aas(
        self,
        within: TimeRange,
        *,
        fip_id: str | None = None,
        tag: Tag | None = None,
        codes: Collection[str] = (),
    ) -> Totals:
        """Returns the sums of each FIP over all AAs, of all types or these."""
        form = Form(fip_id=fip_id, types=types_of(codes, tag) if codes else None)
        selected = await self._over_aas(within, _TAGS[tag])
        return self._totals(await self._blocks.summed(selected, ("type", "fip"), form))

    async def of_aas(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Totals:
        """Returns the sums of each AA over all FIPs, or to one."""
        selected = await self._of_aas(within, aa_id, (REQ, NOT))
        form = Form(fip_id=fip_id)
        return self._totals(await self._blocks.summed(selected, ("aa", "type"), form))

    async def calls_of_pairs(self, within: TimeRange) -> Totals:
        """Returns the sums of all calls of each pair, without percentiles."""
        selected = await self._of_aas(within, None, (REQ,))
        by, form = ("aa", "fip"), Form(times=False)
        of_windows = [one for one in selected if one.grain is Grain.WINDOW]
        of_sums = [
            msgspec.structs.replace(
                one, tags=(ALL,), without=_of_all_calls(one.without), only=_of_all_calls(one.only)
            )
            for one in selected
            if one.grain is not Grain.WINDOW
        ]
        calls = Form(times=False, types=types_of(CALL_CODES))
        parts = [
            await self._blocks.summed(of_sums, by, form),
            await self._blocks.summed(of_windows, by, calls),
        ]
        return self._totals(added(parts, by, times=False))

    async def pairs(
        self, within: TimeRange, codes: Collection[str], *, fip_id: str | None = None
    ) -> Totals:
        """Returns the sums of each pair and each of these types, without percentiles."""
        selected = await self._of_aas(within, None, (REQ,))
        form = Form(times=False, fip_id=fip_id, types=types_of(codes))
        return self._totals(await self._blocks.summed(selected, ("aa", "type", "fip"), form))

    async def has_more_pairs(self, within: TimeRange, limit: int) -> bool:
        """Returns whether more pairs than this reported within a range."""
        return len(await self.calls_of_pairs(within)) > limit

    async def steps(
        self,
        within: TimeRange,
        step: Step,
        types: Collection[str],
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> Mapping[datetime, Rollup]:
        """Returns the sums of all requests of these types together, by start of the step.

        A step without traffic is left out.
        """
        if aa_id is None:
            selected = await self._over_aas(within, (REQ,), _LONGEST[step])
        else:
            selected = await self._of_aas(within, aa_id, (REQ,), _LONGEST[step])
        form = Form(fip_id=fip_id, types=types_of(types))
        found = _in_steps(await self._blocks.summed(selected, ("at",), form), step)
        return {time_of(at): row for at, row in self._totals(found).steps()}

    async def heard(self, window: datetime) -> Heard:
        """Returns what all AAs reported of a window, for detection.

        A report with a damaged block is none: detection stands still for no AA.
        """
        wanted = Wanted(Grain.WINDOW, (REQ, NOT), None, frozenset({window}))
        found, lost = await self._blocks.intact(wanted)
        totals = self._totals(joined(found) if found else empty())
        return Heard(totals, frozenset((aa_id, long_tag(tag)) for aa_id, tag in lost))

    async def _reported(self, window: datetime, aa_id: str | None, form: Form) -> Totals:
        wanted = Wanted(Grain.WINDOW, (REQ, NOT), aa_id, frozenset({window}))
        found = [one async for one in self._blocks.each(wanted, form)]
        return self._totals(joined(found) if found else empty())

    async def _of_aas(
        self,
        within: TimeRange,
        aa_id: str | None,
        tags: tuple[str, ...],
        longest: timedelta = DAY,
    ) -> Sequence[Wanted]:
        wide = await self._widened(within)
        stale = await stale_sums(self._tx, wide, tags)
        return _each(of_aas(wide, stale, longest), aa_id, tags)

    async def _over_aas(
        self, within: TimeRange, tags: tuple[str, ...], longest: timedelta = DAY
    ) -> Sequence[Wanted]:
        wide = await self._widened(within)
        stale = await stale_sums(self._tx, wide, tags)
        since = await self._tx.now() - CHARTS_KEPT
        selected = over_aas(wide, stale, since, longest)
        return [
            Wanted(Grain.DAY, tags, ALL_AAS, selected.days),
            Wanted(Grain.HOUR, tags, ALL_AAS, selected.hours),
            Wanted(Grain.WINDOW, tags, ALL_AAS, selected.windows),
            *_each(selected.rest, None, tags),
        ]

    async def _widened(self, within: TimeRange) -> TimeRange:
        """Extends a range to the end of the day if nothing was received later: fewer blocks."""
        beyond = await self._tx.connection.scalar(
            sa.select(sa.literal(1)).where(_R.window_at >= within.end).limit(1)
        )
        day = day_start(within.end)
        end = within.end if beyond or day == within.end else day + DAY
        return TimeRange(within.start, end)

    def _totals(self, cells: Cells) -> Totals:
        return Totals(cells, self._blocks.names.ids)


def _each(selected: OfAas, aa_id: str | None, tags: tuple[str, ...]) -> Sequence[Wanted]:
    return [
        Wanted(grain, tags, aa_id, times.times, times.without, times.only)
        for grain, times in _by_grain(selected)
        if times.times or times.only
    ]


def _by_grain(selected: OfAas) -> Sequence[tuple[Grain, Times]]:
    return (
        (Grain.DAY, selected.days),
        (Grain.HOUR, selected.hours),
        (Grain.WINDOW, selected.windows),
    )


def _of_all_calls(series: frozenset[SeriesKey]) -> frozenset[SeriesKey]:
    return frozenset(SeriesKey(one.aa_id, ALL, one.at) for one in series if one.tag == REQ)


def _in_steps(cells: Cells, step: Step) -> Cells:
    starts = [number_of(step.start_of(time_of(at))) for at in cells.keys["at"].tolist()]
    keys = {**cells.keys, "at": np.array(starts, np.int64)}
    return added([replace(cells, keys=keys)], ("at",))
