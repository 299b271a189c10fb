"""The usual rates of a window's cells, and those that may still be nothing, made where asked for.

Of all lanes and cells each is as large as the counts; what they are made of is a tenth of it.
"""

from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.lanes import (
    ARRIVALS,
    LANE_SYMPTOM,
    LANES,
    Floats,
    Symptom,
)

LOWEST: Final = 0.0003
HIGHEST: Final = np.full((len(LANES), 1, 1), 0.9, np.float32)
HIGHEST[ARRIVALS] = 1.2
"""The highest rate that is usual, lane first."""
ALL: Final = slice(None)
_HARMLESS: Final = {
    Symptom.FAILURES: 0.025,
    Symptom.CLIENT_ERRORS: 0.05,
    Symptom.SLOW: 0.45,
    Symptom.TAIL: 0.004,
    Symptom.OUTCOMES: 0.05,
    Symptom.MISSING: 0.0,
}
"""A rate up to this one matters to no one, however good the history: 97.5 % succeed."""
_LEAST: Final = np.array([_HARMLESS[lane.symptom] for lane in LANES], np.float32)[:, None, None]


class Usual(Struct, frozen=True):
    """Rates of bad events (of arrivals, in their lanes) as the product of their factors."""

    fip: Floats
    """Lane x FIP."""
    aa: Floats
    """Lane x AA."""
    cell: Floats
    """Symptom x AA x FIP."""
    odds: Floats
    """Lane x FIP: the factor of the odds that may still be nothing."""

    def rates(self, lanes: slice = ALL, aas: slice = ALL, fips: slice = ALL) -> Floats:
        """The usual rate of each of these cells, lane first."""
        rates = self.fip[lanes, None, fips] * self.aa[lanes, aas, None]
        for of_lane, symptom in zip(rates, LANE_SYMPTOM[lanes].tolist(), strict=True):
            np.multiply(of_lane, self.cell[symptom, aas, fips], out=of_lane)
        return rates.clip(LOWEST, HIGHEST[lanes], out=rates)

    def limits(self, lanes: slice = ALL, aas: slice = ALL, fips: slice = ALL) -> Floats:
        """The rate that is still nothing: the odds raised (arrivals lowered) by the wandering."""
        rates, odds = self.rates(lanes, aas, fips), self.odds[lanes, None, fips]
        below = rates * (odds - 1.0)
        below += 1.0
        raised = rates * odds
        raised /= below
        np.maximum(raised, _LEAST[lanes], out=raised)
        arriving = np.flatnonzero(LANE_SYMPTOM[lanes] == Symptom.MISSING)
        raised[arriving] = rates[arriving] / odds[arriving]
        return raised
