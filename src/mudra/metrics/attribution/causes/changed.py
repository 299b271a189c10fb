"""Usual rates and times once a cause is one that has changed for good: a deployment."""

from collections.abc import Callable, Iterable

import numpy as np
from msgspec.structs import replace

from mudra.metrics.attribution.baselines.latency_baseline import LatencyBaseline
from mudra.metrics.attribution.baselines.rate_baseline import RateBaseline
from mudra.metrics.attribution.causes.active import Active, own_lanes
from mudra.metrics.attribution.causes.cause import Locus
from mudra.metrics.attribution.evidence.lanes import TIMED_APIS, Symptom


def with_changed(rates: RateBaseline, changed: Iterable[Active]) -> RateBaseline:
    """The rates as usual as these causes have been: so many times the expected bad events."""
    bad = rates.fip_bad.copy()
    for one in changed:
        if Symptom.SLOW not in one.symptoms:
            times = np.float32(one.bad / max(one.expected, 1.0))
            bad[own_lanes(one.locus, one.symptoms), one.locus.fip] *= times
    return replace(rates, fip_bad=bad)


def with_slower(
    latency: LatencyBaseline, changed: Iterable[Active], shift: Callable[[Locus], float]
) -> LatencyBaseline:
    """The times as usual as these causes have been; `shift` says how much slower a place is now."""
    median = latency.median.copy()
    for one in changed:
        if Symptom.SLOW in one.symptoms:
            apis = [not one.locus.apis or api in one.locus.apis for api in TIMED_APIS]
            median[apis, one.locus.fip] += np.float32(shift(one.locus))
    return replace(latency, median=median)
