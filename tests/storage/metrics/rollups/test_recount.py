"""A recount in parts finds what is wrong, has that made again, and one part stops no other."""

import uuid

import pytest
from prometheus_client import REGISTRY
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import DAY, HOUR

from mudra.jobs.recount import recount_days
from mudra.metrics.rollup.recount import RecountPart

FIFTH = DAY + 5 * HOUR
WRONG = {
    "an hour of an AA": (
        (
            "UPDATE metrics_hour SET counts[2] = counts[2] + 1"
            " WHERE aa_id = 'aa-one' AND at = :fifth AND type = 'hbt'"
        ),
        [("hour", "aa-one", 5)],
    ),
    "a day of an AA": (
        "UPDATE metrics_day SET longest = longest + 1 WHERE aa_id = 'aa-one' AND type = 'hbt'",
        [("day", "aa-one", 0)],
    ),
    "an hour over all AAs": (
        (
            "UPDATE metrics_hour SET blocks = blocks + 1"
            " WHERE aa_id = '' AND at = :fifth AND type = 'hbt'"
        ),
        [("hour", "", 5)],
    ),
    "a day over all AAs": (
        "UPDATE metrics_day SET data_bytes = data_bytes + 1 WHERE aa_id = '' AND type = 'hbt'",
        [("day", "", 0)],
    ),
    "an hour without its row": (
        "DELETE FROM metrics_hour WHERE aa_id = 'aa-one' AND at = :fifth AND type = 'hbt'",
        [("hour", "aa-one", 5)],
    ),
    "a day of an AA that reported nothing": (
        (
            "INSERT INTO metrics_day SELECT at, 'aa-none', tag, fip_id, type, blocks, counts, statuses,"
            " data_bytes, distribution, longest FROM metrics_day WHERE aa_id = 'aa-one'"
        ),
        [("day", "aa-none", 0)],
    ),
}
SUMS = "SELECT at, aa_id, tag, fip_id, type, blocks, counts, statuses, data_bytes, longest FROM {}"


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


async def all_sums(store):
    found = [await store.run(SUMS.format(one)) for one in ("metrics_hour", "metrics_day")]
    return sorted(map(repr, [row for rows in found for row in rows]))


def failed_parts():
    name = "mudra_metrics_recount_parts_total"
    return REGISTRY.get_sample_value(name, {"outcome": "failed"}) or 0


@pytest.mark.parametrize(("change", "marked"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_found_and_made_again_alone(in_store, change, marked):
    async def act(store):
        await reported(store)
        before = await all_sums(store)
        await store.run(change, **{"fifth": FIFTH} if ":fifth" in change else {})
        wrong = await all_sums(store)
        await recount_days(store.maintenance)
        found = await marks(store)
        await store.make_sums()
        return before, wrong, found, await all_sums(store), await store.differing(DAY)

    before, wrong, found, after, differing = in_store(act)

    assert wrong != before
    assert found == marked
    assert after == before
    assert differing == {}


ODD_ROW = (
    "INSERT INTO metrics_raw (window_at, aa_id, tag, fip_id, type, counts)"
    " VALUES (:at, 'aa-odd', 'req', 'BANK-FIP', 'hbt', array_fill(9000000000000000000, ARRAY[15]))"
)


def test_a_part_that_cannot_be_counted_stops_no_other(in_store):
    async def act(store):
        await reported(store)
        await store.run(ODD_ROW, at=DAY)  # the hours after it, and all days, come later
        await store.run(WRONG["an hour of an AA"][0], fifth=FIFTH)
        await store.run("UPDATE metrics_day SET blocks = blocks + 1 WHERE aa_id = 'aa-two'")
        before = failed_parts()
        await recount_days(store.maintenance)
        found = await marks(store)
        await store.run("DELETE FROM metrics_raw WHERE aa_id = 'aa-odd'")
        await store.make_sums()
        return found, failed_parts() - before, await store.differing(DAY)

    found, failed, differing = in_store(act)

    assert found == [("day", "aa-two", 0), ("hour", "aa-one", 5)]
    assert failed == 1
    assert differing == {}


def test_sums_that_are_to_be_made_again_hide_no_others(in_store):
    async def act(store):
        await reported(store)
        await store.push(request_metrics(2, "aa-one", str(uuid.uuid4()), DAY, seed=3))
        await store.run("UPDATE metrics_hour SET blocks = 9 WHERE aa_id IN ('aa-one', 'aa-two')")
        return await store.differing(DAY)

    # Each hour has a row of each FIP and type for an AA; only those of the new report are stale.
    rows = in_store(act)

    assert rows.keys() == {RecountPart("hour", DAY), RecountPart("hour", FIFTH)}
    assert rows[RecountPart("hour", FIFTH)] == 2 * rows[RecountPart("hour", DAY)]
