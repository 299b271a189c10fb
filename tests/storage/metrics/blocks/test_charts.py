"""Charts are those of the reports, and others are answered while one is added up."""

import asyncio
import time
import uuid
from datetime import timedelta
from typing import Any, NamedTuple

import msgspec
import pytest
import sqlalchemy as sa
from tests.storage.metrics.summed_store import DAY, HOUR, plain_of, replace_longest
from tests.support.metrics.metrics_payloads import request_metrics

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.step import Step, step_for
from mudra.metrics.sums.plain_recount import plain_recount
from mudra.storage.metrics.blocks.questions import BlockQuestions

TYPES = frozenset({"fif", "cns"})
AAS = ("aa-one", "aa-two")
STEPS = (Step.WINDOW, Step.HOUR, Step.SIX_HOURS)
MANY_FIPS = 900
EIGHT_HOURS = TimeRange(DAY + HOUR, DAY + 9 * HOUR)


async def chart(store, within, step, types=TYPES, **of):
    async with store.database.transaction(within_s=60) as tx:
        return await read(tx, within, step, types, **of)


async def read(tx, within, step, types=TYPES, **of):
    found = await BlockQuestions(tx).steps(within, step, types, **of)
    return dict(zip(found.starts(), map(plain_of, found.rows()), strict=True))


async def of_sums_alone(store, step, of):
    """A chart while there are no reports, which are there again behind it."""
    async with store.database.transaction(within_s=60) as tx:
        undone = await tx.connection.begin_nested()
        await tx.connection.execute(
            sa.text(
                "DELETE FROM metrics_block WHERE grain = 'window' AND aa_id <> ''"
                " AND tag IN ('req', 'not')"
            )
        )
        found = await read(tx, EIGHT_HOURS, step, **of)
        await undone.rollback()
        return found


def plain(payloads, step, aa_id=None, fip_id=None):
    found = plain_recount(
        (step.start_of(window), block)
        for window, payload in payloads
        for fip in payload.fips
        if aa_id in {None, payload.aa_id} and fip_id in {None, fip.fip_id}
        for block in fip.metrics
        if block.type in TYPES
    )
    return {at: replace_longest(sums) for at, sums in found.items()}


async def reported(store, within, fips=2):
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


class Charts(NamedTuple):
    """Charts of the same eight hours, those by step in the order of `whose`."""

    whose: tuple[dict[str, str], ...]
    reports: list[Any]
    of_sums: list[Any]
    """By windows of all, without the reports."""
    summed: dict[Step, list[Any]]
    late_reports: list[Any]
    """Some were replaced, and these are not summed up."""
    late: dict[Step, list[Any]]


@pytest.fixture(scope="module")
def charts(in_store):
    async def act(store):
        await store.empty()
        reports = await reported(store, EIGHT_HOURS)
        fip_id = reports[0][1].fips[0].fip_id
        whose = ({}, {"aa_id": "aa-one"}, {"fip_id": fip_id}, {"aa_id": "aa-two", "fip_id": fip_id})

        async def by_step():
            return {
                step: [await chart(store, EIGHT_HOURS, step, **of) for of in whose]
                for step in STEPS
            }

        of_sums = [await of_sums_alone(store, Step.WINDOW, of) for of in whose[:1]]
        summed = await by_step()
        late_reports = [*reports]
        for place in range(20, 24):
            window, payload = reports[place]
            again = request_metrics(1, payload.aa_id, str(uuid.uuid4()), window, 7)
            await store.push(again)
            late_reports[place] = (window, again)
        return Charts(whose, reports, of_sums, summed, late_reports, await by_step())

    return in_store(act)


@pytest.mark.parametrize("step", STEPS)
def test_a_chart_is_that_of_the_reports_from_whatever_it_is_read(charts, step):
    for of, found in zip(charts.whose, charts.late[step], strict=True):
        assert found == plain(charts.late_reports, step, **of)
    assert [one.keys() for one in charts.summed[step]] == [one.keys() for one in charts.late[step]]


def test_a_chart_by_windows_of_the_last_eight_hours_reads_no_reports(charts):
    assert step_for(EIGHT_HOURS) is Step.WINDOW

    assert charts.of_sums == [plain(charts.reports, Step.WINDOW)]


def test_a_late_report_of_another_aa_does_not_make_the_chart_of_an_aa_read_reports(in_store):
    async def act(store):
        await store.empty()
        payloads = await reported(store, TimeRange(DAY, DAY + 2 * HOUR))
        late = request_metrics(1, "aa-late", str(uuid.uuid4()), DAY)
        store.now = DAY + 5 * HOUR
        await store.push(late)
        await store.run("DELETE FROM metrics_block WHERE aa_id = 'aa-one' AND grain = 'window'")
        within = TimeRange(DAY, DAY + timedelta(hours=10))
        return await chart(store, within, Step.HOUR, aa_id="aa-one"), payloads

    found, payloads = in_store(act)

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


@pytest.fixture(scope="module")
def many_rows(in_store):
    """Charts of many reports, and of the sums of as many: each with its time and longest pause."""

    async def act(store):
        await store.empty()
        store.now = DAY + 20 * HOUR
        for place in range(2):
            payload = request_metrics(MANY_FIPS, "aa-one", str(uuid.uuid4()), DAY + place * HOUR)
            await store.push(of_one_call(payload))
        types = frozenset(block.type for block in payload.fips[0].metrics)

        async def timed(step):
            stop = asyncio.Event()
            pause = asyncio.create_task(longest_pause(stop))
            began = time.perf_counter()
            found = await chart(store, TimeRange(DAY, DAY + 2 * HOUR), step, types)
            taken = time.perf_counter() - began
            stop.set()
            return found, taken, await pause

        of_reports = await timed(Step.WINDOW)
        await store.make_sums()
        return {"reports": of_reports, "sums of hours": await timed(Step.HOUR)}

    return in_store(act)


@pytest.mark.parametrize("of", ["reports", "sums of hours"])
@pytest.mark.slow
def test_others_are_answered_while_a_chart_of_many_rows_is_added_up(many_rows, of):
    found, taken, pause = many_rows[of]

    assert sum(sums.blocks for sums in found.values()) > 15_000
    assert pause < taken / 3
