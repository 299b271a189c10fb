"""Response times that rise slowly, where each pair of an AA and a FIP has few calls."""

import numpy as np
import pytest
from tests.support.depth import with_every_change
from tests.unit.metrics.attribution.attribution import FIRST, even_window, named

from mudra.metrics.attribution.causes.cause import Locus
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import TIMED_APIS
from mudra.metrics.attribution.state import new_state
from mudra.metrics.payload.catalogue import RequestType

AAS, FIPS, DRIFTING = 5, 6, 2
BUSY = [
    TIMED_APIS.index(api)
    for api in (RequestType.ACCOUNT_DISCOVERY, RequestType.FI_REQUEST, RequestType.FI_FETCH)
]
DAY = 144
RAMP = 9
"""Windows until the whole rise is reached."""


def window_of(number: int, rng: np.random.Generator, calls: int, factor: float) -> Evidence:
    """`calls` of each busy API from each AA to each FIP; those to one FIP take longer."""
    evidence = even_window(number, AAS, FIPS, 1.0)
    evidence.samples[:], evidence.percentiles[:] = 0.0, 0.0
    times = np.exp(rng.normal(np.log(300), 0.6, (len(BUSY), AAS, FIPS, calls)))
    times[:, :, DRIFTING] *= factor
    times.sort(axis=-1)
    evidence.samples[BUSY] = calls
    evidence.percentiles[BUSY] = times[..., -1:]
    evidence.percentiles[BUSY, :, :, 0] = times[..., (calls - 1) // 2]
    return evidence


def drifted(seed: int, calls: int, rise: float, windows: int) -> tuple[set[Locus], set[Locus]]:
    """Places named in a quiet day, and in windows in which times begin to rise."""
    rng, state = np.random.default_rng(seed), new_state(AAS, FIPS)
    quiet: set[Locus] = set()
    said: set[Locus] = set()
    for number in range(DAY + windows):
        part = max(number - DAY + 1, 0) / RAMP
        evaluation = evaluate_window(window_of(FIRST + number, rng, calls, rise**part), state)
        state = evaluation.state
        (said if part else quiet).update(named(evaluation.causes))
    return quiet, said


@pytest.mark.parametrize("calls", with_every_change([7], [7, 15]))
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_times_that_rise_to_three_times_in_90_minutes_are_found_in_70(
    calls: int, seed: int
) -> None:
    quiet, said = drifted(seed, calls, 3.0, windows=7)

    assert quiet == set()
    assert {place.fip for place in said} == {DRIFTING}


def test_times_that_rise_by_a_tenth_are_nothing() -> None:
    quiet, said = drifted(3, 7, 1.1, windows=RAMP)

    assert quiet | said == set()
