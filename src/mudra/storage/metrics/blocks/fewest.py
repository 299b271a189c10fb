"""Adds up sums from the fewest blocks that hold them: also longer sums, and settled ones."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import chain

from mudra.metrics.sums.adding import RunningSum
from mudra.metrics.sums.cells import Cells
from mudra.metrics.sums.selection import SeriesKey
from mudra.storage.metrics.blocks.grain import LONGER, SHORTER, Grain, Tier
from mudra.storage.metrics.blocks.reading import Blocks, Form, Span, Wanted


async def summed_from_fewest(
    blocks: Blocks,
    wanted: Sequence[Wanted],
    by: Sequence[str],
    form: Form,
    most: timedelta | None = None,
) -> Cells:
    """Returns the sums of what is wanted, as `Blocks.summed` does, from fewer blocks.

    Longer sums are read first, the longest before the others, and then whatever they were not found
    for. None is longer than `most`, such as the step of a chart.
    """
    total = RunningSum(by, times=form.times)
    for one in wanted:
        rest, tiers = one, _tiers(one, most)
        if tiers and one.all_times:
            stored = await blocks.spans(one, [*chain(*tiers)], form)
            left, longer = _longer(one, stored, few_fips=form.few_fips)
            for tags in tiers:
                keys = frozenset(key for key in longer if key.tag in tags)
                found = await blocks.add(total, Wanted(one.grain, tags, one.aa_id, only=keys), form)
                # Not all that were chosen: one that is no longer kept may be gone meanwhile.
                left -= {shorter for key in found for shorter in longer[key]}
            rest = Wanted(one.grain, one.tags, one.aa_id, only=frozenset(left))
        await blocks.add(total, rest, form)
    return await asyncio.to_thread(total.total)


def _tiers(wanted: Wanted, most: timedelta | None) -> Sequence[tuple[str, ...]]:
    """Returns the tags of the longer sums that may be read, of the longest ones first."""
    return [
        tuple(LONGER[tier][tag] for tag in wanted.tags if tag in LONGER[tier])
        for tier in (Tier.LONGEST, Tier.LONG)
        if wanted.grain is not Grain.WINDOW and (most is None or wanted.grain.usual(tier) <= most)
    ]


def _longer(
    wanted: Wanted, stored: Iterable[Span], *, few_fips: bool
) -> tuple[set[SeriesKey], Mapping[SeriesKey, Sequence[SeriesKey]]]:
    """Returns all that is wanted, and longer sums to read, each with those that it is the sum of.

    Sums of most times go first, where all of these are wanted. Few FIPs are read of a settled block
    before longer sums of fewer times.
    """
    asked, longer = set[SeriesKey](), dict[SeriesKey, Sequence[SeriesKey]]()
    every, of_series = wanted.all_times, defaultdict[tuple[str, str], list[Span]](list)
    for span in stored:
        of_series[span.aa_id, SHORTER.get(span.tag, span.tag)].append(span)
    spans = {(one.at, one.until) for of in of_series.values() for one in of}
    times = {(at, until): frozenset(wanted.grain.times(at, until)) for at, until in spans}
    for (aa_id, tag), of in of_series.items():
        left = {at for at in every if wanted.has(aa_id, tag, at)}
        asked |= {SeriesKey(aa_id, tag, at) for at in left}
        number = {one: len(times[one.at, one.until] & left) for one in of}
        for one in sorted(of, key=lambda one: (-number[one], one.tag == tag)):
            mine = times[one.at, one.until]
            if one.tag == tag and few_fips:
                left -= mine
            elif one.tag != tag and mine <= left:
                shorter = [SeriesKey(aa_id, tag, at) for at in mine]
                longer[SeriesKey(aa_id, one.tag, one.at)] = shorter
                left -= mine
    return asked, longer
