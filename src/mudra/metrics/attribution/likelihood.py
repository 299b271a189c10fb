"""Log-likelihood ratios of all cells, and their sums for every candidate cause.

A cell's ratio compares "the odds of a bad event are raised by `TILTS`" with
"they are as usual, or have wandered as far as they do". Sums over cells are the
ratios of the candidates: all APIs of a FIP, one API of an AA, and so on. A cell
that speaks against a candidate does so with a bounded voice, and so does one
AA, so no single report can acquit or convict a FIP that several AAs see.
"""

from collections.abc import Iterable
from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.lane_counts import LaneCounts
from mudra.metrics.attribution.evidence.lanes import LANES, LANES_OF, Floats, Symptom

TILTS: Final = (1.0, 2.0, 3.5, 6.0)
"""Steps of the log odds: at 2 % usual, rates of 5, 13, 40 and 89 %."""
_ARRIVAL_TILTS: Final = (0.4, 0.8, 1.6, 4.0)
"""The same of notifications: 67, 45, 20 and 2 % of the usual number arrive."""
_SLOW_TILTS: Final = (0.5, 1.0, 2.0, 4.0)
"""The same of slow calls: at 25 % usual, 35, 48, 71 and 95 %."""
_STEPS: Final = {Symptom.SLOW: _SLOW_TILTS, Symptom.MISSING: _ARRIVAL_TILTS}
"""Of the other symptoms those of `TILTS`."""
_LANE_FLOOR: Final = -3.0
_VOICE_FLOOR: Final = -6.0
_FULL_VOICE: Final = 100.0
"""Up to here a cell's ratio counts in full, beyond it grows by its logarithm only."""


class Ratios(Struct, frozen=True):
    """Ratios of each family of candidates; the first axis is the tilt."""

    network_lane: Floats
    network: Floats
    fip_lane: Floats
    fip: Floats
    aa_lane: Floats
    aa: Floats
    path: Floats


FAMILIES: Final = Ratios.__struct_fields__


def cell_ratios(symptom: Symptom, counts: LaneCounts, rates: Floats, tilt: int) -> Floats:
    """Ratio of each lane of a symptom in each cell for one tilt."""
    step = np.float32(_STEPS.get(symptom, TILTS)[tilt])
    if symptom is Symptom.MISSING:
        due = counts.events * rates
        return _bounded_voice(np.asarray(due * -np.expm1(-step) - counts.bad * step))
    less = rates * np.expm1(step)
    np.log1p(less, out=less)
    less *= counts.events
    ratio = counts.bad * step
    ratio -= less
    return _bounded_voice(np.asarray(ratio))


def ratios(aas: int, fips: int, each: Iterable[tuple[LaneCounts, Floats]]) -> Ratios:
    """Ratios of all candidates in one window, by counts and rates of each symptom in order.

    One symptom after the other: those of all lanes and cells together are as large as the state.
    """
    found = no_ratios(aas, fips)
    for symptom, lanes, (counts, rates) in zip(Symptom, LANES_OF, each, strict=True):
        for tilt in range(len(TILTS)):
            cell, path, voice = _voices(symptom, counts, rates, tilt)
            found.fip_lane[tilt, lanes], found.aa_lane[tilt, lanes] = cell.sum(1), cell.sum(2)
            found.fip[tilt, symptom], found.aa[tilt, symptom] = voice.sum(0), voice.sum(1)
            found.path[tilt, symptom] = path
    _sum_up_network(found)
    return found


def ratios_without(
    before: Ratios, gone: LaneCounts, kept: LaneCounts, rates: Floats, aas: slice, fips: slice
) -> Ratios:
    """The ratios of what is left, if it differs in these AAs or FIPs only.

    As `ratios` of what is left, but for rounding, at the cost of one AA or one FIP instead of
    all. `gone` and `kept` are the counts there before and after, and `rates` are those there; one
    of the slices is the whole.
    """
    after = Ratios(*(getattr(before, family).copy() for family in FAMILIES))
    of_aas = fips == slice(None)
    for symptom, lanes in zip(Symptom, LANES_OF, strict=True):
        for tilt in range(len(TILTS)):
            (old_cell, _, old_voice), (cell, path, voice) = (
                _voices(
                    symptom,
                    LaneCounts(one.bad[lanes], one.events[lanes]),
                    rates[lanes],
                    tilt,
                )
                for one in (gone, kept)
            )
            after.path[tilt, symptom, aas, fips] = path
            if of_aas:
                after.aa_lane[tilt, lanes, aas] = cell.sum(2)
                after.aa[tilt, symptom, aas] = voice.sum(1)
                after.fip_lane[tilt, lanes] += cell.sum(1) - old_cell.sum(1)
                after.fip[tilt, symptom] += voice.sum(0) - old_voice.sum(0)
            else:
                after.fip_lane[tilt, lanes, fips] = cell.sum(1)
                after.fip[tilt, symptom, fips] = voice.sum(0)
                after.aa_lane[tilt, lanes] += cell.sum(2) - old_cell.sum(2)
                after.aa[tilt, symptom] += voice.sum(1) - old_voice.sum(1)
    _sum_up_network(after)
    return after


def _voices(
    symptom: Symptom, counts: LaneCounts, rates: Floats, tilt: int
) -> tuple[Floats, Floats, Floats]:
    """Bounded ratios of each lane of a symptom, and of it as they are and bounded, in each cell."""
    cell = cell_ratios(symptom, counts, rates, tilt)
    bounded = np.maximum(cell, _VOICE_FLOOR)
    np.maximum(cell, _LANE_FLOOR, out=cell)
    path = _bounded_voice(cell.sum(0))
    return bounded, path, np.maximum(path, _VOICE_FLOOR)


def _sum_up_network(found: Ratios) -> None:
    for tilt in range(len(TILTS)):
        found.network_lane[tilt] = _of_network(found.aa_lane[tilt])
        found.network[tilt] = _of_network(found.aa[tilt])


def _of_network(aa: Floats) -> Floats:
    return np.asarray(np.maximum(aa, 2 * _VOICE_FLOOR).sum(1), np.float32)


def no_ratios(aas: int, fips: int) -> Ratios:
    """Zero for every candidate."""
    tilts, lanes, symptoms = len(TILTS), len(LANES), len(LANES_OF)
    shapes = ((lanes,), (symptoms,), (lanes, fips), (symptoms, fips), (lanes, aas),
              (symptoms, aas), (symptoms, aas, fips))  # fmt: skip
    return Ratios(*(np.zeros((tilts, *shape), np.float32) for shape in shapes))


def _bounded_voice(ratio: Floats) -> Floats:
    """Bound what one cell says, in place, and keep the order of ratios."""
    loud = ratio > _FULL_VOICE
    if loud.any():
        ratio[loud] = _FULL_VOICE * (1.0 + np.log(ratio[loud] / _FULL_VOICE))
    return ratio
