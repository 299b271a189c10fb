"""bench/truth: how soon the reports allow a fault to be found, by any test.

The oracle knows the place, the kind and the strength of the fault, and the exact
probabilities without it. It adds up the log-likelihood ratio of "this fault" against
"none" from the first report on, and finds the fault when the sum reaches the alarm level
of attribution. Without that knowledge, no test with the same false alarms is
expected to be sooner: what the oracle does not find in time is lack of calls, not of a
better test. Of a drift of times it takes the likelihood of the four percentiles as ranks of the
exact distribution.
"""

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.truth_faults import Fault, FaultKind
from bench.truth_network import FINOT, FIREQ, Drawn, Odds, Times
from mudra.metrics.attribution.sequential import alarm_level, window_cap

NO_ORACLE = frozenset(
    {FaultKind.FIP_SLOW, FaultKind.FIP_TAIL, FaultKind.AGENT,
     FaultKind.RED_LIAR, FaultKind.BLIP, FaultKind.MAINTENANCE}
)  # fmt: skip
_LOWEST = 1e-4
Counts = NDArray[np.floating[Any]]


class Oracle:
    """The sums of all faults of one network."""

    def __init__(self, aas: int, fips: int) -> None:
        self.level = alarm_level(aas, fips)
        self.sums: dict[int, float] = {}

    def healthy(self, odds: Odds) -> Odds:
        """The probabilities before a fault changes them."""
        return copy.deepcopy(odds)

    def look(
        self, faults: list[Fault], healthy: Odds, times: Times, drawn: Drawn, window: int
    ) -> None:
        """Add one window."""
        for fault in faults:
            if fault.kind in NO_ORACLE or fault.found_by_oracle >= 0:
                continue
            if fault.kind is FaultKind.TIME_DRIFT:
                ratio = _ratio_of_times(fault, times, drawn)
            else:
                ratio = _ratio(fault, healthy, drawn)
            gain = min(ratio, window_cap(self.level))
            now = max(self.sums.get(id(fault), 0.0) + gain, 0.0)
            self.sums[id(fault)] = now
            if now >= self.level:
                fault.found_by_oracle = window


def _ratio(fault: Fault, healthy: Odds, drawn: Drawn) -> float:
    evidence, odds = drawn.evidence, drawn.odds
    liar = fault.kind is FaultKind.GREEN_LIAR
    aa = slice(None) if fault.aa < 0 or liar else slice(fault.aa, fault.aa + 1)
    fip = slice(None) if fault.fip < 0 else slice(fault.fip, fault.fip + 1)
    cells = (slice(None), aa, fip)
    heard = evidence.reported.copy()
    if liar:
        heard[fault.aa] = False
    heard_cells = np.broadcast_to(heard[:, None], evidence.total.shape[1:])[aa, fip]
    total, client, failed = (
        part[cells] * heard_cells
        for part in (evidence.total, evidence.client_errors, evidence.failed)
    )
    came = evidence.statuses[0] + evidence.statuses[1]
    found = _binomial(failed, total - client, healthy.failed[cells], odds.failed[cells])
    found += _binomial(client, total, healthy.client_errors[cells], odds.client_errors[cells])
    found += _binomial(
        evidence.statuses[1][aa, fip] * heard_cells, came[aa, fip] * heard_cells,
        healthy.no_data[aa, fip], odds.no_data[aa, fip],
    )  # fmt: skip
    accepted = np.maximum(total - client - failed, 0.0)[FIREQ] * evidence.notified[:, None][aa]
    before, after = healthy.arrives[aa, fip], odds.arrives[aa, fip]
    arrived = total[FINOT] * np.log(np.maximum(after, _LOWEST) / before)
    return found + float((arrived - accepted * (after - before)).sum())


def _binomial(bad: Counts, events: Counts, before: Counts, after: Counts) -> float:
    low, high = (np.clip(rate, _LOWEST, 1 - _LOWEST) for rate in (before, after))
    return float((bad * np.log(high / low) + (events - bad) * np.log((1 - high) / (1 - low))).sum())


def _ratio_of_times(fault: Fault, times: Times, drawn: Drawn) -> float:
    """The same for what the percentiles of a FIP say of its times."""
    evidence, odds = drawn.evidence, drawn.odds
    found = 0.0
    for api, aa in np.argwhere(evidence.samples[:, :, fault.fip] > 0):
        cell = (api, aa, fault.fip)
        points = np.log(np.maximum(evidence.percentiles[cell], 1.0)) - times.median[cell]
        late = math.log(odds.slower[cell])
        share = float(odds.slower_share[cell])
        calls = int(evidence.samples[cell])
        usual = _shares_of(points, times, fault.fip)
        slower = share * _shares_of(points - late, times, fault.fip) + (1.0 - share) * usual
        found += _log_likelihood(calls, slower) - _log_likelihood(calls, usual)
    return found


def _shares_of(points: Counts, times: Times, fip: int) -> Counts:
    """Density at each point, and the share of calls below it."""
    sigma, found = float(times.sigma[fip]), []
    rate = times.tail_index * sigma
    for z in points / sigma:
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        below = math.erfc(-z / math.sqrt(2)) / 2
        far = math.exp(min(rate * rate / 2 - rate * z, 500.0))
        far *= math.erfc((rate - z) / math.sqrt(2)) / 2
        density += times.tail * (rate * far - density)
        found.append((density / sigma, below - times.tail * far))
    return np.array(found)


def _log_likelihood(calls: int, points: Counts) -> float:
    """The likelihood of the points as order statistics by nearest rank, but for a constant."""
    found, rank, share = 0.0, 0, 0.0
    for wanted, (density, below) in zip((0.5, 0.95, 0.99, 1.0), points, strict=True):
        now = max(math.ceil(calls * wanted - 1e-9), 1)
        if now == rank:
            continue
        found += math.log(max(density, 1e-12))
        found += (now - rank - 1) * math.log(max(below - share, 1e-9))
        rank, share = now, below
    return found
