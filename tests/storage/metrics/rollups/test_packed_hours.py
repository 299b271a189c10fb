"""While an old hour waits for its sums over all AAs, the packed ones of its AAs are read."""

import uuid

from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import DAY, HOUR, comparable

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.metrics.rollups.rollup_queries import PostgresRollupQueries

AAS = ("aa-one", "aa-three", "aa-two")
WITHIN = TimeRange(DAY, DAY + 3 * HOUR)
NO_ROWS = "DELETE FROM metrics_hour"
NOT_OVER_AAS = "DELETE FROM metrics_packed WHERE aa_id = '' AND at < '2026-03-04 02:00Z'"
STALE = "INSERT INTO metrics_stale (grain, aa_id, tag, at) VALUES ('hour', :aa, 'req', :at)"


async def over_aas(store):
    async with store.database.transaction() as tx:
        found = {}
        async for sums in PostgresRollupQueries(tx).over_aas_by_type(WITHIN):
            found |= sums
        return comparable(found)


def test_they_come_to_the_same_as_sums_over_all_aas(in_store):
    async def act(store):
        await store.empty()
        store.now = DAY + 12 * HOUR
        for place in range(12):
            for aa_id in AAS:
                start = DAY + place * WINDOW
                await store.push(request_metrics(3, aa_id, str(uuid.uuid4()), start, place))
        await store.make_sums()
        before = await over_aas(store)
        for place in range(2):
            await store.run(STALE, aa="", at=DAY + place * HOUR)
        # Its row says that it is not to be trusted: its windows are read.
        await store.run(STALE, aa="aa-one", at=DAY)
        for statement in (NO_ROWS, NOT_OVER_AAS):
            await store.run(statement)
        return before, await over_aas(store)

    before, after = in_store(act)

    assert before
    assert after == before
