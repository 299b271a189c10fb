"""The breadth of a symptom: all of the network, an AA alone, or FIPs that are many."""

from typing import Final

import numpy as np

from mudra.metrics.attribution.evidence.lanes import Flags, Floats

BUSY: Final = 5.0
"""Calls of a pair, an AA or a FIP from which on it can show a symptom."""
_MANY: Final = 20.0
"""Calls of a place from which on chance hides a symptom in it seldom."""
_MOST: Final = 0.6
_AT_ONCE_FAILURES: Final = 900
_AT_ONCE_SHARE: Final = 0.4
_WIDE: Final = 0.8
_OF_AN_AA: Final = 0.3


def seen_by_others(seen: Flags, busy: Flags) -> Flags:
    """Return for each pair whether more than half of the other AAs lose calls at its FIP."""
    others, calling = seen.sum(0) - seen, busy.sum(0) - busy
    return np.asarray(2 * others > calling)


def is_the_aas(aa: int, beyond: Floats, calls: Floats) -> bool:
    """Return whether a good part of an AA's FIPs show a symptom: nearly all, or it alone sees it.

    What most other AAs see at the same FIPs is these FIPs' own, also if they are many. Where no
    other AA calls no one knows what it would see: there an AA is not alone.
    """
    busy, shown = calls >= BUSY, beyond > 0
    here = busy[aa] & shown[aa]
    if here.sum() < _OF_AN_AA * busy[aa].sum():
        return False
    called = calls[aa] > 0
    if (called & shown[aa]).sum() >= _WIDE * called.sum():
        return True
    shared = busy[aa] & (busy.sum(0) > 1)
    alone = here & shared & ~seen_by_others(busy & shown, busy)[aa]
    return bool(alone.any() and alone.sum() >= _OF_AN_AA * shared.sum())


def nearly_all(beyond: Floats, calls: Floats) -> bool:
    """Return whether nearly all places with calls enough show a symptom: of vendors some do.

    Of places with few calls fewer do, by chance: five calls of which six in ten are slow are at
    night no rarer than five of which four are.
    """
    busy = calls >= BUSY
    due = np.where(calls >= _MANY, _WIDE, _MOST)[busy].sum()
    return bool((busy & (beyond > 0)).sum() >= due)


def lost(bad: Floats, events: Floats, busy: Flags, seen: Flags, axis: int, fewest: int) -> Flags:
    """Return which members lose most calls of those that see it; others may lie."""
    enough = (seen.sum(axis) >= fewest) & (seen.sum(axis) >= _MOST * busy.sum(axis))
    lost, made = (bad * seen).sum(axis), (events * seen).sum(axis)
    return np.asarray(enough & (lost >= _AT_ONCE_FAILURES) & (lost >= _AT_ONCE_SHARE * made))
