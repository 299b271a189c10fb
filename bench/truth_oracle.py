"""bench/truth: how soon the reports allow a fault to be found, by any test.

The oracle knows the place, the kind and the strength of the fault, and the exact
probabilities without it. It adds up the log-likelihood ratio of "this fault" against
"none" from the first report on, and finds the fault when the sum reaches the alarm level
of attribution. Without that knowledge, no test with the same false alarms is
expected to be sooner: what the oracle does not find in time is lack of calls, not of a
better test. Times of calls are not simulated as counts, so faults of time have no oracle.
"""

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.truth_faults import Fault, FaultKind
from bench.truth_network import FINOT, FIREQ, Drawn, Odds
from mudra.metrics.attribution.sequential import alarm_level, window_cap

OF_TIME = frozenset(
    {FaultKind.FIP_SLOW, FaultKind.FIP_TAIL, FaultKind.TIME_DRIFT, FaultKind.AGENT,
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

    def look(self, faults: list[Fault], healthy: Odds, drawn: Drawn, window: int) -> None:
        """Add one window."""
        for fault in faults:
            if fault.kind in OF_TIME or fault.found_by_oracle >= 0:
                continue
            gain = min(_ratio(fault, healthy, drawn), window_cap(self.level))
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
