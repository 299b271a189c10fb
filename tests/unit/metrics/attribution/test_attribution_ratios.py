"""Ratios of what is left, from those before, instead of all over again."""

import numpy as np
import pytest

from mudra.metrics.attribution.evidence.lane_counts import LaneCounts
from mudra.metrics.attribution.evidence.lanes import LANES, LANES_OF, Floats, Symptom
from mudra.metrics.attribution.likelihood import FAMILIES, ratios, ratios_without

AAS, FIPS = 4, 7
WHOLE = slice(None)


@pytest.mark.parametrize(
    ("aas", "fips"),
    [(WHOLE, slice(2, 3)), (slice(1, 2), WHOLE), (slice(3, 4), slice(5, 6))],
    ids=["fip", "aa", "path"],
)
def test_ratios_without_a_place_are_those_of_what_is_left(aas: slice, fips: slice) -> None:
    rng = np.random.default_rng(3)
    events = rng.integers(0, 300, (len(LANES), AAS, FIPS)).astype(np.float32)
    bad = (events * rng.random(events.shape) ** 3).astype(np.float32)
    rates = np.full(events.shape, 0.05, np.float32)
    left = LaneCounts(bad.copy(), events.copy())
    lanes = LANES_OF[Symptom.FAILURES]
    left.bad[lanes, aas, fips] = left.events[lanes, aas, fips] = 0.0
    before = ratios(AAS, FIPS, by_symptom(LaneCounts(bad, events), rates))
    place = (WHOLE, aas, fips if aas == WHOLE else WHOLE)
    gone, kept = (
        LaneCounts(bad[place], events[place]),
        LaneCounts(left.bad[place], left.events[place]),
    )

    after = ratios_without(before, gone, kept, rates[place], *place[1:])

    expected = ratios(AAS, FIPS, by_symptom(left, rates))
    for family in FAMILIES:
        assert np.allclose(getattr(after, family), getattr(expected, family), rtol=1e-4, atol=0.05)
    assert not np.array_equal(before.path, after.path)


def by_symptom(counts: LaneCounts, rates: Floats) -> list[tuple[LaneCounts, Floats]]:
    return [
        (LaneCounts(counts.bad[lanes], counts.events[lanes]), rates[lanes]) for lanes in LANES_OF
    ]
