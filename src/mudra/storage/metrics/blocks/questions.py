"""Answers questions about sums: implements metrics/ports.py RollupQueries.

Each question selects blocks (metrics/sums/selection.py), reads them and adds them up by some keys.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np
import sqlalchemy as sa

from mudra.metrics.health.judging import certainly_good
from mudra.metrics.health.weighing import may_be_disputed
from mudra.metrics.payload.catalogue import (
    CUSTOMER_CODES,
    WINDOW,
    Tag,
    day_start,
    window_at,
)
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.damage import BlockDamaged
from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR
from mudra.metrics.rollup.step import Step
from mudra.metrics.sums.adding import added, joined
from mudra.metrics.sums.cells import Cells, empty
from mudra.metrics.sums.selection import (
    OfAas,
    SeriesKey,
    StaleSums,
    Times,
    of_aas,
    over_aas,
    valid_days,
    windows_asked,
)
from mudra.metrics.sums.totals import Totals
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.begins import summed_by_begin
from mudra.storage.metrics.blocks.fewest import summed_from_fewest
from mudra.storage.metrics.blocks.grain import (
    ALL,
    NOT,
    NOT_GOOD,
    OVER_FIPS,
    REQ,
    SEEN,
    Grain,
    by_grain,
)
from mudra.storage.metrics.blocks.reading import (
    Blocks,
    Form,
    Wanted,
    only,
    types_of,
)
from mudra.storage.metrics.blocks.stale_sums import stale_sums, without_sums
from mudra.storage.metrics.stored_report import long_tag
from mudra.storage.tables.metrics import metrics_receipt

_CALLS: Final = types_of(CUSTOMER_CODES)
_R: Final = metrics_receipt.c
_TAGS: Final = {None: (REQ, NOT), Tag.REQUESTS: (REQ,), Tag.NOTIFICATIONS: (NOT,)}
_LONGEST: Final = {Step.WINDOW: WINDOW, Step.HOUR: HOUR, Step.SIX_HOURS: HOUR, Step.DAY: DAY}
"""The longest sums that a step of a chart is made of."""


T = TypeVar("T")


class Reported(NamedTuple, Generic[T]):
    """Results of each block of a window's reports."""

    ids: Sequence[str]
    """The AAs and FIPs by the places that cells have."""
    blocks: Sequence[T]
    lost: frozenset[tuple[str, Tag]]
    """AAs and tags whose report has a damaged block."""


class BlockQuestions:
    """Sums of any range, always equal to the sums of the reports that are counted."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self._tx)

    async def totals(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Totals:
        """Returns the sums of each pair and type; of a single window, what was reported."""
        form = Form(fip_ids=only(fip_id))
        if within.number == 1:
            return await self._reported(within.first, aa_id, form)
        selected = await self._of_aas(within, aa_id, (REQ, NOT))
        return self._totals(await self._summed(selected, ("aa", "type", "fip"), form))

    async def of_pairs(
        self,
        within: TimeRange,
        *,
        aa_id: str | None = None,
        fip_ids: Collection[str] | None = None,
        times: bool = True,
    ) -> Totals:
        """Returns the sums of each pair and type, also of a single window.

        With estimated `times`, or without: a tenth of the cost.
        """
        form = Form(times=times, fip_ids=None if fip_ids is None else frozenset(fip_ids))
        selected = await self._of_aas(within, aa_id, (REQ, NOT))
        return self._totals(await self._summed(selected, ("fip", "aa", "type"), form))

    async def of_times(
        self, times: Mapping[str, Sequence[TimeRange]], *, aa_id: str | None, with_times: bool
    ) -> Totals:
        """Returns the sums of each pair and type in each of these times of a FIP, at its begin.

        Those of one FIP have no window in common.
        """
        blocks = self._blocks
        return self._totals(
            await summed_by_begin(self._tx, blocks, times, aa_id, with_times=with_times)
        )

    async def over_aas(
        self,
        within: TimeRange,
        *,
        fip_id: str | None = None,
        tag: Tag | None = None,
        codes: Collection[str] = (),
    ) -> Totals:
        """Returns the sums of each FIP over all AAs, of all types or these."""
        form = Form(fip_ids=only(fip_id), types=types_of(codes, tag) if codes else None)
        selected = await self._over_aas(within, _TAGS[tag])
        return self._totals(await self._summed(selected, ("type", "fip"), form))

    async def of_aas(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Totals:
        """Returns the sums of each AA over all FIPs, or to one."""
        by = ("aa", "type")
        if fip_id is None:
            parts = await self._derived(within, OVER_FIPS, by, (Form(), Form()), aa_id)
            return self._totals(added(parts, by))
        selected = await self._of_aas(within, aa_id, (REQ, NOT))
        return self._totals(await self._summed(selected, by, Form(fip_ids=only(fip_id))))

    async def calls_of_pairs(self, within: TimeRange) -> Totals:
        """Returns the sums of all calls for customers of each pair, without percentiles."""
        by, forms = ("aa", "fip"), (Form(times=False), Form(times=False, types=_CALLS))
        parts = await self._derived(within, {REQ: ALL}, by, forms)
        return self._totals(added(parts, by, times=False))

    async def seen_by_most(
        self, days: Collection[datetime]
    ) -> AsyncIterator[tuple[datetime, Totals]]:
        """Gives what is stored of these days as most AAs see them: none that is stale or damaged.

        A damaged one is logged.
        """
        if not days:
            return
        within = TimeRange(min(days), max(days) + DAY)
        left = {*days} & {*valid_days(within, await stale_sums(self._tx, within, (REQ,)))}
        while left:
            blocks = Blocks(self._tx)
            wanted = Wanted(Grain.DAY, (SEEN,), ALL_AAS, frozenset(left))
            try:
                async for cells in blocks.each(wanted, Form(times=False)):
                    day = window_at(int(cells.keys["at"][0]))
                    left.discard(day)
                    yield day, Totals(cells, blocks.names.ids)
            except BlockDamaged as damage:
                left.discard(damage.place.at)
            else:
                return

    async def contested(self, within: TimeRange, codes: Collection[str], whole: Totals) -> Totals:
        """Returns the sums of each pair and type of FIPs of which most AAs may say other than all.

        Without percentiles. All of other FIPs are left out: in a network without trouble those are
        all of them, and of a day they have ten million cells. `whole` are the sums of `over_aas`.
        """
        types = types_of(codes)
        form = Form(times=False, types=types)
        sums = whole.cells.without_times()
        sums = sums.chosen(np.isin(sums.keys["type"], sorted(types)))
        by = ("aa", "type", "fip")
        stored, reported = await self._derived(within, {REQ: NOT_GOOD}, by, (form, form))
        not_good = added([stored, reported.chosen(~certainly_good(reported))], by, times=False)
        ids = self._blocks.names.ids
        fips = may_be_disputed(sums, not_good, max(within.number, 1))
        if not len(fips):
            return self._totals(empty())
        form = Form(
            times=False, types=types, fip_ids=frozenset(ids[place] for place in fips.tolist())
        )
        selected = await self._of_aas(within, None, (REQ,))
        return self._totals(await self._summed(selected, by, form))

    async def pairs(
        self, within: TimeRange, codes: Collection[str], *, fip_ids: Collection[str] | None = None
    ) -> Totals:
        """Returns the sums of each pair and each of these types, without percentiles.

        Of these FIPs; None for all.
        """
        selected = await self._of_aas(within, None, (REQ,))
        chosen = None if fip_ids is None else frozenset(fip_ids)
        form = Form(times=False, fip_ids=chosen, types=types_of(codes))
        return self._totals(await self._summed(selected, ("aa", "type", "fip"), form))

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
    ) -> Totals:
        """Returns the sums of all requests of these types together, a row for each step.

        A step without traffic is left out.
        """
        form = Form(fip_ids=only(fip_id), types=types_of(types))
        if fip_id is None:
            tags = {REQ: OVER_FIPS[REQ]}
            parts = await self._derived(within, tags, ("at",), (form, form), aa_id, step)
            return self._totals(added([part.moved(step.start_of) for part in parts], ("at",)))
        if aa_id is None:
            selected = await self._over_aas(within, (REQ,), _LONGEST[step])
        else:
            selected = await self._of_aas(within, aa_id, (REQ,), _LONGEST[step])
        sums = await self._summed(selected, ("at",), form, step.value)
        return self._totals(added([sums.moved(step.start_of)], ("at",)))

    async def heard(self, window: datetime, make: Callable[[Cells], T]) -> Reported[T]:
        """Returns what is made of each block that AAs reported of a window, for detection.

        A report with a damaged block is none: detection waits for no AA.
        """
        wanted = Wanted(Grain.WINDOW, (REQ, NOT), None, frozenset({window}))
        found, lost = await self._blocks.intact(wanted, Form(), make)
        damaged = frozenset((aa_id, long_tag(tag)) for aa_id, tag in lost)
        return Reported(self._blocks.names.ids, found, damaged)

    async def notified(
        self, window: datetime, codes: Collection[str], fip_id: str | None = None
    ) -> Totals:
        """Returns the notifications of these types of a window, but of reports that are damaged."""
        wanted = Wanted(Grain.WINDOW, (NOT,), None, frozenset({window}))
        form = Form(fip_ids=only(fip_id), types=types_of(codes, Tag.NOTIFICATIONS))
        found, _ = await self._blocks.intact(wanted, form, _as_it_is)
        return self._totals(joined(found))

    async def _reported(self, window: datetime, aa_id: str | None, form: Form) -> Totals:
        wanted = Wanted(Grain.WINDOW, (REQ, NOT), aa_id, frozenset({window}))
        found = [one async for one in self._blocks.each(wanted, form)]
        return self._totals(joined(found))

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
        selected = over_aas(wide, await self._stale(wide, tags, longest), longest)
        return [
            Wanted(Grain.DAY, tags, ALL_AAS, selected.days),
            Wanted(Grain.HOUR, tags, ALL_AAS, selected.hours),
            Wanted(Grain.WINDOW, tags, ALL_AAS, selected.windows),
            *_each(selected.rest, None, tags),
        ]

    async def _derived(
        self,
        within: TimeRange,
        tags: Mapping[str, str],
        by: Sequence[str],
        forms: tuple[Form, Form],
        aa_id: str | None = None,
        step: Step | None = None,
    ) -> tuple[Cells, Cells]:
        """Returns sums of what is stored with each AA's sums, and of windows without it.

        `tags` are those by which it is stored, `forms` how each of the two is read. No time is
        longer than a step.
        """
        longest, most = (DAY, None) if step is None else (_LONGEST[step], step.value)
        wide = await self._widened(within)
        stale = await self._stale(wide, (*tags,), longest)
        selected = of_aas(wide, stale, longest)
        made, reported = _apart(selected.windows, stale.windows)
        stored = _with_tags(msgspec.structs.replace(selected, windows=made), tags)
        of_stored = _each(stored, aa_id, (*tags.values(),))
        of_windows = _each(OfAas(windows=reported), aa_id, (*tags,))
        return (
            await self._summed(of_stored, by, forms[0], most),
            await self._summed(of_windows, by, forms[1], most),
        )

    async def _stale(
        self, wide: TimeRange, tags: tuple[str, ...], longest: timedelta = DAY
    ) -> StaleSums:
        """Returns stale sums, and windows that have none over all AAs."""
        stale = await stale_sums(self._tx, wide, tags)
        asked = windows_asked(wide, stale, longest)
        unmade = await without_sums(self._tx, asked, tags)
        return msgspec.structs.replace(stale, windows=stale.windows | unmade)

    async def _widened(self, within: TimeRange) -> TimeRange:
        """Extends a range to the end of the day if nothing was received later: fewer blocks."""
        beyond = await self._tx.connection.scalar(
            sa.select(sa.literal(1)).where(_R.window_at >= within.end).limit(1)
        )
        day = day_start(within.end)
        end = within.end if beyond or day == within.end else day + DAY
        return TimeRange(within.start, end)

    async def _summed(
        self,
        selected: Sequence[Wanted],
        by: Sequence[str],
        form: Form,
        most: timedelta | None = None,
    ) -> Cells:
        return await summed_from_fewest(self._blocks, selected, by, form, most)

    def _totals(self, cells: Cells) -> Totals:
        return Totals(cells, self._blocks.names.ids)


def _as_it_is(cells: Cells) -> Cells:
    return cells


def _each(selected: OfAas, aa_id: str | None, tags: tuple[str, ...]) -> Sequence[Wanted]:
    return [
        Wanted(grain, tags, aa_id, times.times, times.without, times.only)
        for grain, times in by_grain(selected).items()
        if times.times or times.only
    ]


def _apart(windows: Times, without: frozenset[datetime]) -> tuple[Times, Times]:
    """Returns the windows that have sums over all AAs, and the others."""
    others = frozenset(one for one in windows.only if one.at in without)
    return (
        Times(windows.times - without, windows.without, windows.only - others),
        Times(windows.times & without, windows.without, others),
    )


def _with_tags(selected: OfAas, tags: Mapping[str, str]) -> OfAas:
    def named(times: Times) -> Times:
        without, only = (
            frozenset(SeriesKey(one.aa_id, tags[one.tag], one.at) for one in series)
            for series in (times.without, times.only)
        )
        return Times(times.times, without, only)

    return OfAas(named(selected.days), named(selected.hours), named(selected.windows))
