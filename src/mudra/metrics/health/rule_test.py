"""The one test of a share: calls break the network's rule by more than chance."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT

FAILING: Final = 1 - GOOD_ABOVE_PERCENT / 100
"""The share of failed calls that the rule allows."""
BAD_Z: Final = 5.3
"""About one in ten million that just keep the rule would look as bad: a day has 2 million tests."""


def root(bad: NDArray[Any], events: NDArray[Any], rate: float = FAILING) -> NDArray[np.float32]:
    """Returns the signed root of the deviance: normal if `bad` of `events` has this rate."""
    number = np.maximum(events.astype(np.float64), 1.0)
    share = np.clip(bad.astype(np.float64) / number, 1e-12, 1 - 1e-12)
    deviance = number * (
        share * np.log(share / rate) + (1 - share) * np.log((1 - share) / (1 - rate))
    )
    found = np.sign(share - rate) * np.sqrt(2 * np.maximum(deviance, 0.0))
    return np.where(events > 0, found, 0.0).astype(np.float32)
