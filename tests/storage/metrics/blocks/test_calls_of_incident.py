"""The calls of an incident are those of its ends and APIs in its bad windows, and no others."""

import itertools
import uuid
from datetime import timedelta

from tests.storage.metrics.summed_store import DAY
from tests.support.metrics.metrics_payloads import (
    notification_metrics,
    request_metrics,
)

from mudra.metrics.detection.heard import CallsOfIncident
from mudra.storage.metrics.attribution import counted_calls

WINDOW = timedelta(minutes=10)
AAS = ("aa-one", "aa-two")
WINDOWS = (DAY, DAY + WINDOW, DAY + 2 * WINDOW)
BAD = (DAY, DAY + 2 * WINDOW)
ENDS = [(None, "BANK-001"), ("aa-one", None), ("aa-two", "BANK-002"), (None, None)]
APIS = [
    ("finot",),
    ("finot", "alnot", "cnot-received"),
    ("fireq", "cnot", "fif"),
    ("cnot", "cnot-received"),
]


def plain(payloads, ends, apis):
    """The calls with 200, and all but 4xx, one by one; counts are as in spec 2.5."""
    good = counted = 0
    for payload in payloads:
        received = not hasattr(payload.fips[0].metrics[0], "pxx")
        for fip in payload.fips:
            if ends[0] not in {None, payload.aa_id} or ends[1] not in {None, fip.fip_id}:
                continue
            for block in fip.metrics:
                code = "cnot-received" if received and block.type == "cnot" else block.type
                if code in apis:
                    good += block.counts[1]
                    counted += block.counts[0] - sum(block.counts[2:10])
    return good, counted


def test_the_calls_of_an_incident_are_those_of_its_bad_windows(in_store):
    asked = [*itertools.product(ENDS, APIS)]

    async def act(store):
        await store.empty()
        pushed = []
        for aa_id, window, made in itertools.product(
            AAS, WINDOWS, (request_metrics, notification_metrics)
        ):
            pushed.append((window, made(4, aa_id, str(uuid.uuid4()), window)))
            await store.push(pushed[-1][1])
        async with store.patiently() as tx:
            found = [
                await counted_calls(tx, CallsOfIncident("one", *ends, apis, BAD))
                for ends, apis in asked
            ]
        return found, [payload for window, payload in pushed if window in BAD]

    found, payloads = in_store(act)

    assert found == [plain(payloads, ends, apis) for ends, apis in asked]
    assert all(good > 0 for good, _ in found)
