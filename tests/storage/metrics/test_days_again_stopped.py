"""Days that are judged again come to the same, whenever they are stopped."""

import uuid
from datetime import timedelta

import pytest
from tests.storage.metrics.detection import AAS, Memory
from tests.storage.metrics.summed_store import DAY
from tests.support.metrics.metrics_payloads import failing, request_metrics

from mudra.metrics.detection.days_again import DaysAgain
from mudra.metrics.detection.detection_service import DetectionService
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.metrics.attribution import PostgresDetections

MAX_AT_ONCE = 24

WINDOWS = MAX_AT_ONCE + 6
NOW = DAY + WINDOWS * WINDOW + timedelta(minutes=2)
LATE = [DAY + place * WINDOW for place in range(2, 5)]
_JUDGED = ("metrics_attribution", "metrics_fip_state", "metrics_incident")


class Members(Memory):
    """The members whose reports the tests push."""

    async def onboarded_fips(self):
        return frozenset({"BANK-000", "BANK-001"})


class Judged:
    """Detection over a real database, a transaction at a time."""

    def __init__(self, store):
        self.store, self.members = store, Members(DAY)

    async def step(self, days):
        await self.store.run("UPDATE metrics_stale SET noted_at = noted_at - interval '1 hour'")
        async with self.store.database.transaction(within_s=60) as tx:
            service = DetectionService(
                store=PostgresDetections(tx),
                members=self.members,
                silences=self.members,
                notifier=self.members,
                new_id=lambda: str(uuid.uuid4()),
            )
            return await service.detect(NOW, days)

    async def all(self):
        days = DaysAgain()
        while (await self.step(days)).more:
            pass

    async def states(self):
        rows = await self.store.run("SELECT window_at, states FROM metrics_fip_state ORDER BY 1")
        return rows.all()

    async def incidents(self):
        rows = await self.store.run(
            "SELECT kind, entity_id, began, bad_windows, ending FROM metrics_incident ORDER BY 1, 2"
        )
        return rows.all()


async def report(store, window, *, bad=False):
    # A report of which the first comes in time; a bad one replaces it when all were judged.
    store.now = NOW if bad else window + WINDOW + timedelta(minutes=2)
    for aa_id in AAS:
        payload = request_metrics(2, aa_id, str(uuid.uuid4()), window)
        await store.push(failing(payload) if bad else payload)


@pytest.mark.slow
def test_a_run_that_was_stopped_changes_nothing_and_the_next_comes_to_the_same(in_store):
    async def act(store):
        await store.empty()
        found, begun = [], []
        for stopped in (True, False):
            for table in _JUDGED:
                await store.run(f"DELETE FROM {table}")
            judged = Judged(store)
            # The second time those that failed are replaced by what they were.
            for window in LATE if begun else TimeRange(DAY, DAY + WINDOWS * WINDOW).windows:
                await report(store, window)
            await judged.all()
            begun.append((await judged.states(), await judged.incidents()))
            for window in LATE:
                await report(store, window, bad=True)
            if stopped:
                assert (await judged.step(DaysAgain())).more
                assert await judged.incidents() == []
            await judged.all()
            found.append((await judged.states(), await judged.incidents()))
        return *begun, *found

    first, second, after_a_stop, at_once = in_store(act)

    assert first == second
    assert after_a_stop[1]
    assert after_a_stop == at_once
