"""A damaged block stops nothing but what needs it, and is never taken for zero."""

import uuid
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY
from tests.storage.metrics.summed_store import DAY, HOUR, Truth, summed
from tests.support.metrics.metrics_payloads import (
    notification_metrics,
    of_few_calls,
    request_metrics,
)

from mudra.jobs.metrics_jobs import refresh_rollups, settle_sums
from mudra.jobs.telemetry import count_damaged_block
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.damage import BlockDamaged, count_damage
from mudra.metrics.sums.adding import joined
from mudra.metrics.sums.totals import Totals
from mudra.storage.metrics.blocks.questions import BlockQuestions

WHOLE = TimeRange(DAY, DAY + timedelta(days=1))
DAMAGE = (
    "UPDATE metrics_block SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8)) WHERE "
)
AAS = ("aa-one", "aa-two")
TWO_HOURS = (DAY, DAY + WINDOW, DAY + 3 * HOUR)


async def reported(store, *, sums=False):
    async def make():
        payloads = [
            of_few_calls(request_metrics(120, aa_id, str(uuid.uuid4()), window))
            for aa_id in AAS
            for window in TWO_HOURS
        ]
        for payload in payloads:
            await store.push(payload)
        if sums:
            await store.make_sums()
        return payloads

    return await store.once(sums, make)


async def hours(store):
    rows = await store.run(
        "SELECT DISTINCT aa_id, cast(extract(hour FROM at) AS integer) FROM metrics_block"
        " WHERE grain = 'hour' AND tag = 'req' ORDER BY 1, 2"
    )
    return [tuple(row) for row in rows]


def test_sums_of_all_but_a_damaged_hour_are_made(in_store):
    async def act(store):
        payloads = await reported(store)
        await store.run(
            DAMAGE + "grain = 'window' AND aa_id = 'aa-one' AND at = :at", at=DAY + WINDOW
        )
        await refresh_rollups(store.maintenance)
        with pytest.raises(BlockDamaged) as met:
            await store.totals(WHOLE)
        of_two = [one for one in payloads if one.aa_id == "aa-two"]
        found = summed(await store.totals(WHOLE, aa_id="aa-two"))
        return met.value, await hours(store), found, Truth(of_two, WHOLE).by("aa", "fip", "type")

    met, made, found, truth = in_store(act)

    assert ("aa-one", 3) in made
    assert ("aa-one", 0) not in made
    assert {("aa-two", 0), ("aa-two", 3)} <= {*made}
    assert found == truth
    assert met.place[:2] + met.place[3:] == ("aa-one", "window", DAY + WINDOW, "req", 0)
    assert "aa-one" not in met.sentence


def test_sums_of_others_are_settled(in_store):
    async def act(store):
        await reported(store, sums=True)
        await store.run(DAMAGE + "grain = 'hour' AND aa_id = 'aa-one' AND tag = 'req'")
        store.now = DAY + timedelta(days=20)
        await settle_sums(store.maintenance)
        rows = await store.run(
            "SELECT DISTINCT aa_id, tag, until - at > interval '1 hour' FROM metrics_block"
            " WHERE grain = 'hour' AND tag = 'req'"
        )
        return {(aa_id, tag): settled for aa_id, tag, settled in rows}

    assert in_store(act) == {
        ("aa-one", "req"): False,
        ("aa-two", "req"): True,
        ("", "req"): True,
    }


def test_detection_hears_no_report_with_a_damaged_block_and_all_others(in_store):
    async def act(store):
        payloads = await reported(store)
        await store.push(notification_metrics(3, "aa-one", str(uuid.uuid4()), DAY))
        await store.run(
            DAMAGE + "grain = 'window' AND aa_id = 'aa-one' AND tag = 'req' AND bucket = ("
            "SELECT max(bucket) FROM metrics_block WHERE grain = 'window')"
        )
        async with store.patiently() as tx:
            heard = await BlockQuestions(tx).heard(DAY, lambda cells: cells)
        of_two = [one for one in payloads if one.aa_id == "aa-two"]
        truth = Truth(of_two, TimeRange(DAY, DAY + WINDOW)).by("aa", "fip", "type")
        return heard, truth

    heard, truth = in_store(act)

    assert heard.lost == {("aa-one", Tag.REQUESTS)}
    totals = Totals(joined(heard.blocks), heard.ids)
    assert summed(totals.only(Tag.REQUESTS)) == truth
    assert {cell.aa_id for cell, _ in totals.only(Tag.NOTIFICATIONS).items()} == {"aa-one"}


def test_each_read_of_a_damaged_block_is_counted_by_its_grain(in_store):
    def counted():
        found = REGISTRY.get_sample_value("mudra_metrics_damaged_blocks_total", {"grain": "day"})
        return found or 0

    async def act(store):
        await reported(store, sums=True)
        await store.run(DAMAGE + "grain = 'day' AND aa_id = 'aa-one' AND tag = 'req'")
        with pytest.raises(BlockDamaged):
            await store.totals(WHOLE)

    count_damage(count_damaged_block)
    before = counted()
    in_store(act)

    assert counted() == before + 1
