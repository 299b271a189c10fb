"""A recount finds sums that are wrong and has them made again; one part stops no other."""

import uuid
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import DAY, HOUR, summed

from mudra.jobs.recount import recount_days
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.recount import SAMPLE, sample

FIFTH = DAY + 5 * HOUR
WITHIN = TimeRange(DAY, DAY + timedelta(days=1))
WRONG = {
    "an hour of an AA": ("hour", "aa-one", 5),
    "a day of an AA": ("day", "aa-one", 0),
    "an hour over all AAs": ("hour", "", 5),
    "a day over all AAs": ("day", "", 0),
}


async def reported(store):
    """Two AAs that reported two hours of a day, with sums."""
    await store.empty()  # a recount looks at all, other tests drop what sums were made of
    for aa_id in ("aa-one", "aa-two"):
        for window in (DAY, FIFTH):
            await store.push(request_metrics(2, aa_id, str(uuid.uuid4()), window))
    await store.make_sums()


async def marks(store):
    rows = await store.run(
        "SELECT DISTINCT grain, aa_id, cast(extract(hour FROM at) AS integer) FROM metrics_stale"
        " WHERE grain <> 'window' ORDER BY 1, 2, 3"
    )
    return [tuple(row) for row in rows]


def failed_parts():
    name = "mudra_metrics_recount_parts_total"
    return REGISTRY.get_sample_value(name, {"outcome": "failed"}) or 0


@pytest.mark.parametrize(("grain", "aa_id", "hour"), WRONG.values(), ids=WRONG)
def test_sums_that_are_missing_are_found_and_made_again_alone(in_store, grain, aa_id, hour):
    async def act(store):
        await reported(store)
        before = summed(await store.totals(WITHIN))
        gone = f"grain = '{grain}' AND aa_id = '{aa_id}' AND tag = 'req' AND at = :at"
        await store.run(f"DELETE FROM metrics_block WHERE {gone}", at=DAY + hour * HOUR)
        await recount_days(store.maintenance)
        found = await marks(store)
        await store.make_sums()
        return before, found, summed(await store.totals(WITHIN)), await store.differing(DAY)

    before, found, after, differing = in_store(act)

    assert found == [(grain, aa_id, hour)]
    assert after == before
    assert differing == {}


def test_sums_of_a_report_that_no_longer_counts_are_found(in_store):
    async def act(store):
        await reported(store)
        await store.run("DELETE FROM metrics_block WHERE grain = 'window' AND aa_id = 'aa-two'")
        await recount_days(store.maintenance)
        return await marks(store)

    assert in_store(act) == [
        *(("day", aa_id, 0) for aa_id in ("", "aa-two")),
        *(("hour", aa_id, hour) for aa_id in ("", "aa-two") for hour in (0, 5)),
    ]


def test_a_damaged_block_fails_a_part_and_stops_no_other(in_store):
    async def act(store):
        await reported(store)
        damage = "UPDATE metrics_block SET numbers = overlay(numbers placing 'x' from 9)"
        of_one = "WHERE grain = 'window' AND aa_id = 'aa-two' AND at = :at"
        await store.run(f"{damage} {of_one}", at=DAY)
        before = failed_parts()
        await recount_days(store.maintenance)
        return failed_parts() - before, await marks(store)

    failed, found = in_store(act)

    assert failed == 2  # each FIP of that block
    assert found == []


def test_sums_that_are_to_be_made_again_hide_no_others(in_store):
    async def act(store):
        await reported(store)
        await store.push(request_metrics(2, "aa-one", str(uuid.uuid4()), DAY, seed=3))
        gone = "grain = 'hour' AND aa_id IN ('aa-one', 'aa-two') AND tag = 'req'"
        await store.run(f"DELETE FROM metrics_block WHERE {gone}")
        return await store.differing(DAY)

    found = {(one.grain, one.aa_id, one.ats[0]) for one in in_store(act)}

    assert found == {
        ("hour", "aa-one", FIFTH),
        ("hour", "aa-two", DAY),
        ("hour", "aa-two", FIFTH),
    }


def test_each_night_other_fips_are_counted_and_few_ones_all():
    many = [f"BANK-{number:04}" for number in range(2000)]
    nights = [set(sample(many, DAY + timedelta(days=day))) for day in range(30)]

    assert {len(night) for night in nights} == {SAMPLE}
    assert len(set.union(*nights)) > 20 * SAMPLE
    assert set(sample(many[:5], DAY)) == set(many[:5])
