"""Evidence that adds up over windows, for every candidate cause.

Page's cumulative sums, one per candidate and tilt. `bounded` takes at most
`cap` from one window, so one odd window opens nothing, and loses at most
`RELEASE`, so flapping adds up; it decides *whether* something is wrong. `full`
is not capped; it decides *what* explains it best.
"""

import math
from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.likelihood import FAMILIES, Ratios, no_ratios

RELEASE: Final = -3.0
_FULL_AFTER_GOOD: Final = 24.0
_MOST_BITS: Final = float(1 << 24)
_BUDGET_WINDOWS: Final = 4 * 7 * 144
"""One false cause in four quiet weeks, over all candidates, if the model were exact."""


class Running(Struct, frozen=True):
    """Cumulative sums of every candidate."""

    bounded: Ratios
    full: Ratios
    spoke: Ratios
    """Windows since the sum last left zero that spoke for it: a bit each, the latest the lowest.

    Of 24 windows at most, which these numbers hold exactly.
    """


def no_evidence(aas: int, fips: int) -> Running:
    """All sums zero."""
    return Running(*(no_ratios(aas, fips) for _ in range(3)))


def alarm_level(aas: int, fips: int) -> float:
    """The sum at which a candidate is a cause: ln(candidates x tilts x windows)."""
    shapes = no_ratios(1, 1)
    per_fip = shapes.fip_lane.size + shapes.fip.size
    per_aa = shapes.aa_lane.size + shapes.aa.size
    candidates = per_fip * fips + per_aa * aas + shapes.path.size * aas * fips
    return math.log(candidates * _BUDGET_WINDOWS)


def window_cap(level: float) -> float:
    """The most that one window adds: a little less than an alarm, so a second must agree."""
    return level * 0.9


def add_window(running: Running, window: Ratios, level: float) -> Running:
    """The sums after one more window."""
    cap = np.float32(window_cap(level))
    bounded, full, spoke = [], [], []
    for family in FAMILIES:
        new = getattr(window, family)
        old = getattr(running.bounded, family)
        step = new.clip(RELEASE, cap)
        sums = np.maximum(old + step, 0.0)
        bounded.append(sums)
        whole = getattr(running.full, family)
        released = np.maximum(np.minimum(whole, _FULL_AFTER_GOOD) + step, 0.0)
        full.append(np.where(new > 0, whole + new, released))
        bits = (getattr(running.spoke, family) * 2.0) % _MOST_BITS + (new > 0)
        spoke.append(np.where(sums > 0, bits, 0.0))
    return Running(*(_float32(part) for part in (bounded, full, spoke)))


def take_out_explained(running: Running, before: Ratios, after: Ratios) -> None:
    """Take out of the sums, in place, the share that a new cause explains.

    Sums of earlier windows are cut in proportion to this window's, since they
    keep no record of the cells they came from.
    """
    for family in FAMILIES:
        old, new = getattr(before, family), getattr(after, family)
        share = np.where(old > 0, (new / np.maximum(old, 1e-6)).clip(0.0, 1.0), 1.0)
        share[(new == 0) & (old != 0)] = 0.0
        for sums in (running.bounded, running.full):
            kept = getattr(sums, family)
            kept *= share


def _float32(parts: list[np.typing.NDArray[np.float32]]) -> Ratios:
    return Ratios(*(np.asarray(part, np.float32) for part in parts))
