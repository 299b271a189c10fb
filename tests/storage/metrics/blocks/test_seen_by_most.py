"""What most AAs see of a day is stored with its sums, and always equals a plain recount."""

import uuid
from collections import defaultdict
from datetime import datetime, timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.storage.metrics.summed_store import DAY, HOUR
from tests.support.depth import examples
from tests.support.metrics.metrics_payloads import request_metrics

from mudra.metrics.health.weighing import seen_by_most
from mudra.metrics.payload.catalogue import Position
from mudra.metrics.payload.report import RequestBlock, RequestFip
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.metrics.blocks.questions import BlockQuestions

MIN_CALLS = 100
MIN_OWN_CALLS = 20
MIN_REPORTERS = 3

NEXT = DAY + timedelta(days=1)
DAYS = (DAY, NEXT)


def report(aa_id, window, calls):
    """A report of an AA: of each FIP its calls, and those of them that succeed."""
    fips = []
    for fip_id, (total, good) in calls.items():
        counts = [0] * len(Position)
        counts[Position.TOTAL], counts[Position.OK_200] = total, good
        counts[Position.INTERNAL_500] = total - good
        block = RequestBlock("cns", (90, 190, 290, 390), tuple(counts))
        fips.append(RequestFip(fip_id, (block,)))
    payload = request_metrics(1, aa_id, str(uuid.uuid4()), window)
    return msgspec.structs.replace(payload, fips=tuple(fips))


async def stored(store):
    """What is stored of both days: calls and successes by FIP."""
    async with store.patiently() as tx:
        return {day: counts(one) async for day, one in BlockQuestions(tx).seen_by_most(DAYS)}


async def weighed(store):
    """The same from the calls of each AA."""
    async with store.patiently() as tx:
        asked = BlockQuestions(tx)
        return {
            day: counts(seen_by_most(await asked.calls_of_pairs(TimeRange(day, day + 24 * HOUR))))
            for day in DAYS
        }


def counts(seen):
    return {cell.fip_id: row.counts[:2] for cell, row in seen.items()}


def is_good(total, good):
    return good * 100 > total * 95


def recounted(reports):
    """What most AAs see of each FIP on both days, by loops over the reports that stand."""
    found = {day: {} for day in DAYS}
    by_aa = defaultdict(lambda: defaultdict(lambda: (0, 0)))
    for (aa_id, window), calls in reports.items():
        day = window.replace(hour=0, minute=0)
        for fip_id, (total, good) in calls.items():
            before = by_aa[day, fip_id][aa_id]
            by_aa[day, fip_id][aa_id] = before[0] + total, before[1] + good
    for (day, fip_id), seen in by_aa.items():
        found[day][fip_id] = of_most([*seen.values()])
    return found


def of_most(each):
    whole = summed(each)
    against = [one for one in each if is_good(*one) != is_good(*whole)]
    agreeing = [one for one in against if one[0] >= MIN_OWN_CALLS]
    outvotes = len(agreeing) > len(each) - len(against) and len(each) >= MIN_REPORTERS
    rest = summed(against)
    if outvotes and rest[0] >= MIN_CALLS and is_good(*rest) != is_good(*whole):
        return rest
    return whole


def summed(each):
    return sum(total for total, _ in each), sum(good for _, good in each)


def test_a_late_report_changes_what_is_stored(in_store):
    """Two AAs see a dead FIP, and one that calls it most a good one; then a fourth as well."""

    async def act(store):
        await store.empty()
        for aa_id, calls in (("aa-1", (60, 0)), ("aa-2", (60, 0)), ("aa-3", (9000, 9000))):
            await store.push(report(aa_id, DAY + 3 * HOUR, {"FIP-1": calls, "FIP-2": (50, 50)}))
        await store.make_sums()
        before = await stored(store)
        await store.push(report("aa-4", DAY + 5 * HOUR, {"FIP-1": (70, 70)}))
        late = await stored(store), await weighed(store)
        await store.make_sums()
        return before, late, await stored(store)

    before, late, after = in_store(act)

    assert before == {DAY: {"FIP-1": (120, 0), "FIP-2": (150, 150)}}
    changed = {"FIP-1": (9190, 9070), "FIP-2": (150, 150)}
    assert late == ({}, {DAY: changed, NEXT: {}})
    assert after == {DAY: changed}


CALLS = st.sampled_from([(10, 10), (60, 0), (60, 60), (200, 20), (200, 199), (900, 900)])
REPORTS = st.tuples(
    st.sampled_from([f"aa-{number}" for number in range(5)]),
    st.sampled_from([DAY + 2 * HOUR, DAY + 7 * HOUR, NEXT + HOUR]),
    st.dictionaries(st.sampled_from(["FIP-1", "FIP-2"]), CALLS, min_size=1),
)


@pytest.mark.deeper
def test_what_is_stored_equals_a_plain_recount_whatever_came_when(in_store):
    @settings(max_examples=examples(2), deadline=None)
    @given(st.lists(REPORTS, min_size=3, max_size=10), st.sets(st.integers(0, 9), max_size=3))
    def examined(reports, make_after):
        async def act(store):
            await store.empty()
            standing: dict[tuple[str, datetime], object] = {}
            for place, (aa_id, window, calls) in enumerate(reports):
                await store.push(report(aa_id, window, calls))
                standing[aa_id, window] = calls
                if place in make_after:
                    await store.make_sums()
            truth = recounted(standing)
            assert await weighed(store) == truth
            for day, seen in (await stored(store)).items():
                assert seen == truth[day]
            await store.make_sums()
            assert await stored(store) == {day: seen for day, seen in truth.items() if seen}
            assert await weighed(store) == truth

        in_store(act)

    examined()
