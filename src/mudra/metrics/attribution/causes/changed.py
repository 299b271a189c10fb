"""The usual rates once a cause is a rate that has changed for good: a deployment."""

from collections.abc import Iterable

import numpy as np
from msgspec.structs import replace

from mudra.metrics.attribution.baselines.rate_baseline import RateBaseline
from mudra.metrics.attribution.causes.active import Active, own_lanes


def with_changed(rates: RateBaseline, changed: Iterable[Active]) -> RateBaseline:
    """The rates as usual as these causes have been: so many times the expected bad events."""
    bad = rates.fip_bad.copy()
    for one in changed:
        times = np.float32(one.bad / max(one.expected, 1.0))
        bad[own_lanes(one.locus, one.symptoms), one.locus.fip] *= times
    return replace(rates, fip_bad=bad)
