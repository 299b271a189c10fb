"""A recount finds sums that are wrong and has them made again; one part stops no other."""

import dataclasses
import uuid
from datetime import timedelta

import pytest
from prometheus_client import REGISTRY
from tests.storage.metrics.summed_store import DAY, HOUR, summed
from tests.support.depth import with_every_change
from tests.support.metrics.metrics_payloads import failing, notification_metrics, request_metrics

from mudra.jobs.recount import recount_days
from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.recount import sample
from mudra.metrics.sums.block_bytes import decoded, encoded
from mudra.metrics.sums.cells import Names
from mudra.metrics.sums.plain_recount import plain_rows

FIPS = 24

FIFTH = DAY + 5 * HOUR
WITHIN = TimeRange(DAY, DAY + timedelta(days=1))
WRONG = {
    "an hour of an AA": ("hour", "aa-one", 5),
    "a day of an AA": ("day", "aa-one", 0),
    "an hour over all AAs": ("hour", "", 5),
    "a day over all AAs": ("day", "", 0),
}


async def reported(store):
    """Two AAs that reported two hours of a day, with sums, and nothing else."""

    async def make():
        for aa_id in ("aa-one", "aa-two"):
            for window in (DAY, FIFTH):
                await store.push(request_metrics(2, aa_id, str(uuid.uuid4()), window))
        await store.make_sums()

    await store.once("reported", make)


async def reported_with_failures(store):
    """One AA that reported requests that fail, and notifications, with sums."""
    await store.empty()
    for window in (DAY, FIFTH):
        of_window = str(uuid.uuid4()), window
        await store.push(failing(request_metrics(2, "aa-one", *of_window)))
        await store.push(notification_metrics(2, "aa-one", str(uuid.uuid4()), window))
    await store.make_sums()


class Derived:
    """The block of what is derived of the sums of an AA."""

    def __init__(self, store, grain, tag):
        self._store = store
        self._at = DAY if grain == "day" else FIFTH
        self._is_it = f"grain = '{grain}' AND aa_id = 'aa-one' AND tag = '{tag}' AND at = :at"
        self._names = Names()

    async def cells(self):
        """Its cells."""
        found = await self._store.run(
            f"SELECT numbers, times FROM metrics_block WHERE {self._is_it}", at=self._at
        )
        return decoded(*found.one(), self._names, 0, window_number(self._at))

    async def rows(self):
        """Its cells, to compare."""
        return plain_rows(await self.cells())

    async def write(self, cells):
        """Lets it have other cells."""
        numbers, times = encoded(cells, self._names.ids)
        await self._store.run(
            f"UPDATE metrics_block SET numbers = :numbers, times = :times WHERE {self._is_it}",
            numbers=numbers,
            times=times,
            at=self._at,
        )


def with_a_call_more(cells):
    return dataclasses.replace(cells, sums={**cells.sums, "c0": cells.of("c0") + 1})


def with_a_cell_less(cells):
    return cells.part(1, len(cells))


async def marks(store):
    rows = await store.run(
        "SELECT DISTINCT grain, aa_id, cast(extract(hour FROM at) AS integer) FROM metrics_stale"
        " WHERE grain <> 'window' ORDER BY 1, 2, 3"
    )
    return [tuple(row) for row in rows]


def counted(name, **labels):
    return REGISTRY.get_sample_value(f"mudra_metrics_{name}_total", labels) or 0


def failed_parts():
    return counted("recount_parts", outcome="failed")


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


DERIVED = {
    "hour": {
        "all": with_a_call_more,
        "bad": with_a_cell_less,
        "req-fips": with_a_call_more,
        "not-fips": with_a_cell_less,
    },
    "day": {
        "all": with_a_cell_less,
        "bad": with_a_call_more,
        "req-fips": with_a_cell_less,
        "not-fips": with_a_call_more,
    },
}
"""What is done to each block that is derived of sums, by grain and tag."""


@pytest.mark.parametrize("grain", with_every_change(["hour"], DERIVED))
def test_what_is_derived_of_sums_is_found_wrong_and_made_again(in_store, grain):
    def different():
        return counted("recounted", grain=grain, outcome="different")

    async def act(store):
        await reported_with_failures(store)
        before, found = different(), {}
        await recount_days(store.maintenance)
        equal = different() - before
        for tag, wrong in DERIVED[grain].items():
            block, before = Derived(store, grain, tag), different()
            rows = await block.rows()
            await block.write(wrong(await block.cells()))
            await recount_days(store.maintenance)
            wrongly, marked = different() - before, await marks(store)
            await store.make_sums()
            found[tag] = wrongly > 0, marked, await block.rows() == rows
        return equal, found, await store.differing(DAY)

    equal, found, differing = in_store(act)

    mark = (grain, "aa-one", 0 if grain == "day" else 5)
    assert equal == 0
    assert found == dict.fromkeys(DERIVED[grain], (True, [mark], True))
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
    nights = [set(sample(many, DAY + timedelta(days=day), FIPS)) for day in range(30)]

    assert {len(night) for night in nights} == {FIPS}
    assert len(set.union(*nights)) > 20 * FIPS
    assert set(sample(many[:5], DAY, FIPS)) == set(many[:5])
