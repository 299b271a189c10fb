"""Charts are those of the raw rows, and others are answered while one is added up."""

import asyncio
import time
import uuid
from collections import defaultdict
from datetime import timedelta

import msgspec
import pytest
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import DAY, HOUR, with_store

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup import coarse, merge_all, rollup
from mudra.metrics.rollup.step import Step, step_for
from mudra.storage.metrics.rollups.series import PostgresSeries

TYPES = frozenset({"fif", "cns"})
AAS = ("aa-one", "aa-two")
MANY_FIPS = 900
EIGHT_HOURS = TimeRange(DAY + HOUR, DAY + 9 * HOUR)


async def chart(store, within, step, types=TYPES, **of):
    async with store.database.transaction(within_s=60) as tx:
        found = await PostgresSeries(tx).steps(within, step, types, **of)
    return {at: coarse(sums) for at, sums in found.items()}


def plain(payloads, step, aa_id=None, fip_id=None):
    blocks = defaultdict(list)
    for window, payload in payloads:
        for fip in payload.fips:
            if aa_id in {None, payload.aa_id} and fip_id in {None, fip.fip_id}:
                blocks[step.start_of(window)] += [b for b in fip.metrics if b.type in TYPES]
    return {at: coarse(rollup(many)) for at, many in blocks.items()}


async def reported(store, within, fips=3):
    """Both AAs report each window, and the jobs sum it up as time goes on."""
    payloads = []
    for place, window in enumerate(within.windows):
        store.now = window + 2 * WINDOW
        for aa_id in AAS:
            payload = request_metrics(fips, aa_id, str(uuid.uuid4()), window, place % 5 + 1)
            await store.push(payload)
            payloads.append((window, payload))
        if place % 3 == 0:
            await store.make_sums()
    await store.make_sums()
    return payloads


@pytest.mark.parametrize("step", [Step.WINDOW, Step.HOUR, Step.SIX_HOURS])
def test_a_chart_is_that_of_the_raw_rows_from_whatever_it_is_read(conninfo, step):
    async def act(store):
        await store.empty()
        payloads = await reported(store, EIGHT_HOURS)
        fip_id = payloads[0][1].fips[0].fip_id
        whose = ({}, {"aa_id": "aa-one"}, {"fip_id": fip_id}, {"aa_id": "aa-two", "fip_id": fip_id})
        summed = [(of, await chart(store, EIGHT_HOURS, step, **of)) for of in whose]
        for window, payload in payloads[20:24]:  # reported again, and not summed up yet
            again = request_metrics(2, payload.aa_id, str(uuid.uuid4()), window, 7)
            await store.push(again)
            payloads[payloads.index((window, payload))] = (window, again)
        late = [(of, await chart(store, EIGHT_HOURS, step, **of)) for of in whose]
        return summed, late, payloads

    summed, late, payloads = with_store(conninfo, act)

    for of, found in late:
        assert {at: merge_all([one]) for at, one in found.items()} == plain(payloads, step, **of)
    assert [found.keys() for _, found in summed] == [found.keys() for _, found in late]


@pytest.mark.parametrize("of", [{}, {"aa_id": "aa-one"}])
def test_a_chart_by_windows_of_the_last_eight_hours_reads_no_raw_rows(conninfo, of):
    assert step_for(EIGHT_HOURS) is Step.WINDOW

    async def act(store):
        await store.empty()
        payloads = await reported(store, EIGHT_HOURS)
        await store.run("DELETE FROM metrics_raw")
        return await chart(store, EIGHT_HOURS, Step.WINDOW, **of), payloads

    found, payloads = with_store(conninfo, act)

    assert found == plain(payloads, Step.WINDOW, **of)


def test_a_late_report_of_another_aa_does_not_make_the_chart_of_an_aa_read_raw_rows(conninfo):
    async def act(store):
        await store.empty()
        payloads = await reported(store, TimeRange(DAY, DAY + 2 * HOUR))
        late = request_metrics(1, "aa-late", str(uuid.uuid4()), DAY)
        store.now = DAY + 5 * HOUR
        await store.push(late)
        await store.run("DELETE FROM metrics_raw WHERE aa_id = 'aa-one'")
        within = TimeRange(DAY, DAY + timedelta(hours=10))
        return await chart(store, within, Step.HOUR, aa_id="aa-one"), payloads

    found, payloads = with_store(conninfo, act)

    assert found == plain(payloads, Step.HOUR, "aa-one")


async def longest_pause(stop):
    """The longest time for which this process answered nothing."""
    longest, before = 0.0, time.perf_counter()
    while not stop.is_set():
        await asyncio.sleep(0.001)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest


def of_one_call(payload):
    """As many blocks with one call each: more would be held as implausible."""
    once = (1, 1, *[0] * 13)
    fips = [
        msgspec.structs.replace(
            fip,
            metrics=tuple(msgspec.structs.replace(one, counts=once) for one in fip.metrics),
        )
        for fip in payload.fips
    ]
    return msgspec.structs.replace(payload, fips=tuple(fips))


@pytest.mark.parametrize("summed", [False, True], ids=["raw rows", "sums of hours"])
def test_others_are_answered_while_a_chart_of_many_rows_is_added_up(conninfo, summed):
    async def act(store):
        await store.empty()
        store.now = DAY + 20 * HOUR
        for place in range(2):
            payload = request_metrics(MANY_FIPS, "aa-one", str(uuid.uuid4()), DAY + place * HOUR)
            await store.push(of_one_call(payload))
        if summed:
            await store.make_sums()
        types = frozenset(block.type for block in payload.fips[0].metrics)
        step = Step.HOUR if summed else Step.WINDOW
        stop = asyncio.Event()
        pause = asyncio.create_task(longest_pause(stop))
        began = time.perf_counter()
        found = await chart(store, TimeRange(DAY, DAY + 2 * HOUR), step, types)
        taken = time.perf_counter() - began
        stop.set()
        return found, taken, await pause

    found, taken, pause = with_store(conninfo, act)

    assert sum(sums.blocks for sums in found.values()) > 15_000
    assert pause < taken / 3
