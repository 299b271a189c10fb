"""The lessons of a window: its bad events, cut where they are far beyond the usual."""

from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.lanes import Flags, Floats, Symptom

_RULE: Final = 0.05
"""Failures beyond the network's rule of 95 % do not become usual while a cause explains them."""


class Seen(Struct, frozen=True):
    """The lessons of one window, lane x AA x FIP."""

    bad: Floats
    events: Floats
    """0 where a cell is not to be learned from at all."""
    doubtful: Flags
    """Cells that a cause explains, or may soon."""


def cut(
    symptom: Symptom, seen: Seen, expected: Floats, nothing: Floats, known: tuple[Flags, Flags]
) -> tuple[Floats, Floats]:
    """Bad events as they are learned, and how much each cell counts.

    `nothing` are those that may still be nothing, and `known` the FIPs and AAs with a history.

    What is far from the usual counts as less far. In a doubtful cell it counts the less the
    farther it is from what may still be nothing: an outage teaches nothing.
    """
    if symptom is Symptom.MISSING:
        bad = np.clip(seen.bad, 0.6 * expected - 2.0, 1.2 * seen.events + 2.0)
        near = _room(nothing)
        near += seen.bad
        near /= np.maximum(nothing, 1.0)
    else:
        most = np.sqrt(expected)
        most *= 3.0
        most += 3.0 * expected
        most += 1.0
        bad = np.clip(seen.bad, 0.0, most, out=most)
        near = _room(nothing)
        near += nothing
        near /= np.maximum(seen.bad, 1.0)
    if symptom is Symptom.FAILURES:
        near *= ~_breaks_the_rule(seen)
    bad[seen.events <= 0] = 0.0
    weight = np.minimum(near, 1.0, out=near)
    weight *= weight
    weight[~seen.doubtful] = 1.0
    if symptom is not Symptom.MISSING:
        _cut_groups(known, bad, nothing, expected)
    return bad, weight


def _room(events: Floats) -> Floats:
    """Return the distance above so many events that chance may go."""
    room = np.sqrt(events)
    room *= 3.0
    room += 1.0
    return room


def _breaks_the_rule(seen: Seen) -> Flags:
    """FIPs, AAs and paths with fewer successes than the network demands, as AA x FIP cells."""
    beyond = seen.bad.sum(0) - _RULE * seen.events.sum(0)
    return np.asarray((beyond > 0) | (beyond.sum(0) > 0) | (beyond.sum(1) > 0)[:, None])


def _cut_groups(known: tuple[Flags, Flags], bad: Floats, nothing: Floats, expected: Floats) -> None:
    """Cut what a known FIP or AA as a whole has beyond what may still be nothing."""
    fips, aas = known
    for axes, has_history in (((0, 1), fips[None, None, :]), ((0, 2), aas[None, :, None])):
        total = expected.sum(axes, keepdims=True)
        still = np.maximum(1.5 * total, nothing.sum(axes, keepdims=True))
        limit = still + 3.0 * np.sqrt(total) + 1.0
        have = np.maximum(bad.sum(axes, keepdims=True), limit)
        bad *= np.where(has_history, limit / have, 1.0)
