"""While an old hour waits for its sums over all AAs, the packed ones of its AAs are read."""

import uuid

import pytest
from mudra.storage.metrics.rollups import packed_reads
from mudra.storage.metrics.rollups.rollup_queries import PostgresRollupQueries
from tests.support.metrics.metrics_payloads import request_metrics
from tests.support.metrics.summed_store import DAY, HOUR, comparable

from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange

AAS = ("aa-one", "aa-three", "aa-two")
WITHIN = TimeRange(DAY, DAY + 3 * HOUR)
STALE = "INSERT INTO metrics_stale (grain, aa_id, tag, at) VALUES ('hour', :aa, 'req', :at)"
NOT_PACKED = "DELETE FROM metrics_packed WHERE aa_id = :aa AND grain = 'hour'"


async def over_aas(store):
    async with store.database.transaction() as tx:
        found = {}
        async for sums in PostgresRollupQueries(tx).over_aas_by_type(WITHIN):
            found |= sums
        return comparable(found)


@pytest.mark.parametrize("of_other_kinds", [(), ("aa-two",)], ids=["all packed", "one by row"])
def test_they_come_to_the_same_as_sums_over_all_aas(in_store, of_other_kinds, monkeypatch):
    packed = []
    found = packed_reads.find_packed_of_aas

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
        for aa_id in of_other_kinds:
            await store.run(NOT_PACKED, aa=aa_id)
        # Its row says that it is not to be trusted: its windows are read.
        await store.run(STALE, aa="aa-one", at=DAY)

        async def noted(tx, grain, rows):
            hours = await found(tx, grain, rows)
            packed.extend(hours.found)
            return hours

        monkeypatch.setattr(f"{PostgresRollupQueries.__module__}.find_packed_of_aas", noted)
        return before, await over_aas(store)

    before, after = in_store(act)

    assert before
    assert after == before
    expected = {(aa_id, DAY + place * HOUR) for aa_id in AAS for place in range(2)}
    expected -= {("aa-one", DAY), *((aa_id, DAY) for aa_id in of_other_kinds)}
    expected -= {(aa_id, DAY + HOUR) for aa_id in of_other_kinds}
    assert {(key.aa_id, key.at) for key in packed if key.tag == "req"} == expected
