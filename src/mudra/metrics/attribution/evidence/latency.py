"""The number of calls slower than a threshold, from four percentile points and a count.

So latency becomes a count of bad events, and the same test serves successes and times.
"""

import numpy as np

from mudra.metrics.attribution.evidence.lanes import Floats
from mudra.metrics.sums.block_times import calls_from


def calls_above(samples: Floats, percentiles: Floats, threshold: Floats) -> Floats:
    """Returns how many calls took longer than the threshold, by the estimate of all sums.

    `percentiles` has p50, p95, p99 and p100 on its last axis; the result has the
    shape of `samples`, is never negative and never above `samples`.
    """
    above = np.zeros_like(samples)
    some = samples > 0
    limit = np.floor(np.broadcast_to(threshold, samples.shape)[some]).astype(np.int64) + 1
    points = percentiles[some].T.astype(np.int64)
    above[some] = calls_from(samples[some].astype(np.int64), points, limit)
    return above
