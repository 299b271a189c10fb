"""Log-likelihood ratios of all cells, and their sums for every candidate cause.

A cell's ratio compares "the odds of a bad event are raised by `TILTS`" with
"they are as usual, or have wandered as far as they do". Sums over cells are the
ratios of the candidates: all APIs of a FIP, one API of an AA, and so on. A cell
that speaks against a candidate does so with a bounded voice, and so does one
AA, so no single report can acquit or convict a FIP that several AAs see.
"""

from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mudra.metrics.attribution.evidence.lane_counts import LaneCounts
from mudra.metrics.attribution.evidence.lanes import ARRIVALS, LANES, LANES_OF, Floats, Symptom

TILTS: Final = (1.0, 2.0, 3.5, 6.0)
"""Steps of the log odds: at 2 % usual, rates of 5, 13, 40 and 89 %."""
_ARRIVAL_TILTS: Final = (0.4, 0.8, 1.6, 4.0)
"""The same of notifications: 67, 45, 20 and 2 % of the usual number arrive."""
_SLOW_TILTS: Final = (0.5, 1.0, 2.0, 4.0)
"""The same of slow calls: at 25 % usual, 35, 48, 71 and 95 %."""
_STEPS: Final = np.array(
    [_SLOW_TILTS if lane.symptom is Symptom.SLOW else TILTS for lane in LANES], np.float32
).T[:, :, None, None]
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


def wandered(rates: Floats, wander: Floats) -> Floats:
    """The rate that is still nothing: the odds raised (arrivals lowered) by the wandering."""
    odds = np.exp(wander)[:, None, :]
    below = rates * (odds - 1.0)
    below += 1.0
    raised = rates * odds
    raised /= below
    np.maximum(raised, _LEAST, out=raised)
    raised[ARRIVALS] = rates[ARRIVALS] / odds[ARRIVALS]
    return np.asarray(raised, np.float32)


def cell_ratios(counts: LaneCounts, rates: Floats, tilt: int) -> Floats:
    """Ratio of each lane in each cell for one tilt."""
    step = _STEPS[tilt]
    less = rates * np.expm1(step)
    np.log1p(less, out=less)
    less *= counts.events
    ratio = counts.bad * step
    ratio -= less
    del less  # each array has all cells of all lanes
    few = np.float32(_ARRIVAL_TILTS[tilt])
    due = counts.events[ARRIVALS] * rates[ARRIVALS]
    ratio[ARRIVALS] = due * -np.expm1(-few) - counts.bad[ARRIVALS] * few
    return _bounded_voice(ratio)


def ratios(counts: LaneCounts, rates: Floats) -> Ratios:
    """Ratios of all candidates in one window."""
    found: list[list[NDArray[np.float32]]] = [[] for _ in FAMILIES]
    for tilt in range(len(TILTS)):
        cell, path, voice = _voices(counts, rates, tilt)
        fip_lane, aa_lane = cell.sum(1), cell.sum(2)
        fip, aa = voice.sum(1), voice.sum(2)
        network_lane, network = _of_network(aa_lane), _of_network(aa)
        del cell, voice  # as large as all counts: not next to those of the next tilt
        parts = (network_lane, network, fip_lane, fip, aa_lane, aa, path)
        for family, part in zip(found, parts, strict=True):
            family.append(part)
    return Ratios(*(np.stack(family) for family in found))


def ratios_without(
    before: Ratios, counts: LaneCounts, left: LaneCounts, rates: Floats, aas: slice, fips: slice
) -> Ratios:
    """The ratios of what is left, if it differs in these AAs and FIPs only.

    As `ratios` of what is left, but for rounding, at the cost of one AA or one FIP instead of
    all. `counts` are those that `before` belongs to; one of the slices is not the whole.
    """
    whole = slice(None)
    rows, columns = (whole, fips) if aas == whole else (aas, whole)
    gone, kept = (
        LaneCounts(one.bad[:, rows, columns], one.events[:, rows, columns])
        for one in (counts, left)
    )
    after = Ratios(*(getattr(before, family).copy() for family in FAMILIES))
    for tilt in range(len(TILTS)):
        parts = [_voices(one, rates[:, rows, columns], tilt) for one in (gone, kept)]
        (old_cell, _, old_voice), (cell, path, voice) = parts
        after.path[tilt, :, rows, columns] = path
        if columns == whole:
            after.aa_lane[tilt, :, rows], after.aa[tilt, :, rows] = cell.sum(2), voice.sum(2)
            after.fip_lane[tilt] += cell.sum(1) - old_cell.sum(1)
            after.fip[tilt] += voice.sum(1) - old_voice.sum(1)
        else:
            after.fip_lane[tilt, :, columns] = cell.sum(1)
            after.fip[tilt, :, columns] = voice.sum(1)
            after.aa_lane[tilt] += cell.sum(2) - old_cell.sum(2)
            after.aa[tilt] += voice.sum(2) - old_voice.sum(2)
        after.network_lane[tilt] = _of_network(after.aa_lane[tilt])
        after.network[tilt] = _of_network(after.aa[tilt])
    return after


def _voices(counts: LaneCounts, rates: Floats, tilt: int) -> tuple[Floats, Floats, Floats]:
    """Bounded ratios of each lane, and of each symptom as they are and bounded, in each cell."""
    cell = cell_ratios(counts, rates, tilt)
    bounded = np.maximum(cell, _VOICE_FLOOR)
    np.maximum(cell, _LANE_FLOOR, out=cell)
    path = np.stack([cell[lanes].sum(0) for lanes in LANES_OF])
    _bounded_voice(path)
    return bounded, path, np.maximum(path, _VOICE_FLOOR)


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
