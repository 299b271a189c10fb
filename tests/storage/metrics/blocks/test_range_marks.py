"""A range has another mark once a report changes its sums, and reads no receipt of old days."""

import uuid
from datetime import timedelta

import pytest
from tests.storage.metrics.summed_store import AFTER, DAY, HOUR
from tests.support.depth import with_every_change
from tests.support.metrics.metrics_payloads import request_metrics

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.metrics.report_marks import PostgresReportMarks

WITHIN = TimeRange(DAY - 5 * HOUR, AFTER - HOUR)
BEFORE, SUMMED, TODAY = DAY - 3 * HOUR, DAY + 8 * HOUR, AFTER - 2 * HOUR
"""In a part of a day at the beginning, in a whole day, in a part of a day at the end."""
AAS = ("aa-one", "aa-two")


async def marks(store):
    async with store.patiently() as tx:
        figures = PostgresReportMarks(tx)
        return {aa_id: await figures.mark(WITHIN, aa_id) for aa_id in (None, *AAS)}


async def report(store, aa_id, window, seed=1):
    await store.push(request_metrics(2, aa_id, str(uuid.uuid4()), window, seed))


async def filled(store):
    await store.empty()
    for aa_id in AAS:
        for window in (BEFORE, SUMMED, TODAY):
            await report(store, aa_id, window)
    await store.make_sums()


def test_sums_that_nothing_changes_keep_their_mark(in_store):
    async def act(store):
        await filled(store)
        first = await marks(store)
        await report(store, "aa-one", SUMMED)  # a duplicate
        await report(store, "aa-one", DAY - 6 * HOUR)  # of another time
        await store.make_sums()
        return first, await marks(store)

    first, later = in_store(act)

    assert first == later
    assert first[None].days == (DAY, DAY + timedelta(days=1))  # of these no receipt is counted
    assert [one.reports for one in first[None].reports] == [2, 2]


@pytest.mark.parametrize("window", with_every_change([SUMMED], [BEFORE, SUMMED, TODAY]))
def test_a_report_changes_the_mark_at_once_and_for_good(in_store, window):
    async def act(store):
        await filled(store)
        found = [await marks(store)]
        for at, seed in ((window + WINDOW, 1), (window, 2)):  # another window, and a replaced one
            await report(store, "aa-one", at, seed)
            found.append(await marks(store))
            await store.make_sums()
            found.append(await marks(store))
        return found

    first, reported, summed, replaced, summed_again = in_store(act)

    for aa_id in (None, "aa-one"):
        assert first[aa_id] not in (reported[aa_id], summed[aa_id])
        assert summed[aa_id] not in (replaced[aa_id], summed_again[aa_id])
    assert first["aa-two"] == reported["aa-two"] == summed["aa-two"] == replaced["aa-two"]
    assert first["aa-two"] == summed_again["aa-two"]
