"""Bad events and events of the lanes of time."""

import numpy as np
import pytest
from tests.unit.metrics.attribution.attribution import even_window

from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lane_counts import LaneCounts, lane_counts
from mudra.metrics.attribution.evidence.lanes import LANES_OF, Symptom

MANY_CALLS = 20.0

SLOW = LANES_OF[Symptom.SLOW]
LIMIT_MS = 450.0


def counted(evidence: Evidence) -> LaneCounts:
    limits = np.full(evidence.samples.shape, LIMIT_MS, np.float32)
    requests = np.zeros((2, evidence.aas, evidence.fips), np.float32)
    return lane_counts(evidence, evidence.evaluated_cells, (limits, limits * 4), requests)


@pytest.mark.parametrize("calls", [1.0, 3.0, 12.0, MANY_CALLS, 500.0])
def test_each_call_of_a_pair_is_an_event_of_its_times(calls: float) -> None:
    evidence = even_window(0, 2, 3, calls)

    counts = counted(evidence)

    assert np.array_equal(counts.events[SLOW], evidence.samples)
    assert (counts.bad[SLOW] <= counts.events[SLOW]).all()


@pytest.mark.parametrize("calls", [3.0, 12.0])
def test_how_an_agent_estimates_p95_of_few_calls_changes_nothing(calls: float) -> None:
    nearest_rank, interpolated = (even_window(0, 2, 3, calls) for _ in range(2))
    nearest_rank.percentiles[..., 1:3] = nearest_rank.percentiles[..., 3:]
    interpolated.percentiles[..., 1] = 700.0

    one, other = (counted(evidence).bad[SLOW] for evidence in (nearest_rank, interpolated))

    assert np.array_equal(one, other)
    assert (one > 0).all()
