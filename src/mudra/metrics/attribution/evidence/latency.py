"""The number of calls slower than a threshold, from four percentile points and a count.

Each point pins the number of calls above it. Between two points the number is
interpolated along the logarithm of time. So latency becomes a count of bad
events, and the same test serves successes and times.
"""

from typing import Final

import numpy as np

from mudra.metrics.attribution.evidence.lanes import Floats

_SHARES: Final = np.array([0.5, 0.95, 0.99, 1.0], np.float32)
_EDGE: Final = 0.7
"""Below p50 nothing is known: half of the calls are taken to lie within this factor, e^-0.7."""


def calls_above(samples: Floats, percentiles: Floats, threshold: Floats) -> Floats:
    """Estimated number of calls that took longer than the threshold.

    `percentiles` has p50, p95, p99 and p100 on its last axis; the result has the
    shape of `samples`, is never negative and never above `samples`.
    """
    limit = np.log(np.maximum(threshold, 1.0))
    points = np.log(np.maximum(percentiles, 1.0))
    above = [samples - np.ceil(samples * share - 1e-3) for share in _SHARES]
    # Ranks count from the slowest: of 10 calls p95 and p99 are the slowest one itself.
    result = np.where(limit < points[..., 3], np.minimum(samples, 1.0), 0.0)
    for upper in (3, 2, 1):
        inside = (limit >= points[..., upper - 1]) & (limit < points[..., upper])
        width = np.maximum(points[..., upper] - points[..., upper - 1], 1e-6)
        share = (limit - points[..., upper - 1]) / width
        low = above[upper] + 1.0
        high = np.maximum(above[upper - 1], low)
        result = np.where(inside, high - (high - low) * share, result)
    beyond = points[..., 0] - limit
    rise = np.minimum(beyond / _EDGE, 1.0)
    first = np.maximum(above[0], np.minimum(samples, 1.0))
    half = first + (samples - first) * rise
    result = np.where(beyond > 0, half, result)
    return np.minimum(result, samples).astype(np.float32)
