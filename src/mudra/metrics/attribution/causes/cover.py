"""The smallest set of causes: take the best candidate, take out what it explains, look again."""

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.evidence.lanes import LANES, LANES_OF, Flags, Symptom
from mudra.metrics.attribution.likelihood import FAMILIES, Ratios
from mudra.metrics.attribution.sequential import Running, take_out_explained

MOST_PER_WINDOW: Final = 40
SHOWN: Final = 2.0
"""Nats that the window itself must bring: old evidence alone opens nothing."""
_CLOSE: Final = 3.0
"""Candidates within so many nats explain the evidence equally well (odds of 20 to 1)."""
_PENALTY: Final = {
    "network": 0.0,
    "network_lane": 1.0,
    "fip": 0.0,
    "fip_lane": 1.0,
    "aa": 0.0,
    "aa_lane": 1.0,
    "path": 2.0,
}
"""Prior odds: a FIP or an AA fails more often than one API or one path of it."""


class Candidate(Struct, frozen=True):
    """A place and symptom with its sums; `lane` is -1 for all APIs."""

    family: str
    symptom: Symptom
    lane: int
    aa: int
    fip: int
    bounded: float
    full: float
    spoke: int
    """The windows that spoke for it: a bit each, the latest the lowest."""

    @property
    def score(self) -> float:
        """Return what it explains, minus its penalty."""
        return self.full - _PENALTY[self.family]

    @property
    def locus(self) -> Locus:
        """Its place."""
        apis = (LANES[self.lane].api,) if self.lane >= 0 else ()
        return Locus(_KINDS[self.family], self.aa, self.fip, apis)


class Fallen(Struct, frozen=True):
    """Members whose outage needs no second window."""

    fips: Flags
    aas: Flags


_KINDS: Final = {
    "network": Kind.NETWORK,
    "network_lane": Kind.NETWORK,
    "fip": Kind.FIP,
    "fip_lane": Kind.FIP_API,
    "aa": Kind.AA,
    "aa_lane": Kind.AA_API,
    "path": Kind.PATH,
}


def cover(
    running: Running,
    window: Ratios,
    level: float,
    explain: Callable[[Candidate, tuple[Locus, ...]], Ratios],
    at_once: Fallen,
    is_wide: Callable[[Candidate], bool],
) -> None:
    """Take causes until no candidate is above the alarm level, and what each explains off the sums.

    `explain` takes a candidate, with the places that explain the same, out of
    the window and returns the ratios of the rest. `at_once` marks members
    whose outage needs no second window, and `is_wide` says whether enough of a place shows a
    symptom: nearly all of the network, a good part of an AA's FIPs.
    """
    for _ in range(MOST_PER_WINDOW):
        best = _best(running, window, level, at_once, is_wide)
        if best is None:
            break
        rest = explain(best, _ambiguous(running, best))
        take_out_explained(running, window, rest)
        window = rest


def _best(
    running: Running,
    window: Ratios,
    level: float,
    at_once: Fallen,
    is_wide: Callable[[Candidate], bool],
) -> Candidate | None:
    crossing = [
        candidate
        for family in FAMILIES
        for candidate in _crossing(running, window, family, level, at_once)
        if is_wide(candidate)
    ]
    crossing.sort(key=lambda one: (-one.score, one.family, one.lane, one.aa, one.fip))
    for one in crossing:
        whole = _candidate(running, "network", (int(one.symptom),))
        if whole.score > one.score and whole.bounded >= level / 2 and is_wide(whole):
            return whole
        better = [
            other
            for other in _overlapping(running, one)
            if other.score > one.score and other.bounded >= level / 2 and is_wide(other)
        ]
        if not better:
            return one
        best = max(better, key=lambda other: other.score)
        if best.locus.covers(one.locus):
            return best
        # A narrower place explains more, and will cross the level itself in a window or two.
    return None


def _crossing(
    running: Running, window: Ratios, family: str, level: float, at_once: Fallen
) -> Iterator[Candidate]:
    bounded = getattr(running.bounded, family)
    above = bounded >= level
    member = family.removesuffix("_lane")
    fallen = {"fip": at_once.fips, "aa": at_once.aas}.get(member)
    if fallen is not None and fallen.any():
        lanes = slice(0, 1) if family == member else LANES_OF[Symptom.FAILURES]
        above = above.copy()
        above[:, lanes, :] |= (bounded[:, lanes, :] >= level / 2) & fallen
    above = above & (getattr(window, family) > SHOWN)
    if above.any():
        for place in np.argwhere(above.any(0)):
            yield _candidate(running, family, tuple(int(index) for index in place))


def _candidate(running: Running, family: str, place: tuple[int, ...]) -> Candidate:
    index = (slice(None), *place)
    bounded = getattr(running.bounded, family)[index]
    full = getattr(running.full, family)[index]
    tilt = int(np.argmax(full))
    by_lane = family.endswith("_lane")
    symptom = LANES[place[0]].symptom if by_lane else Symptom(place[0])
    aa = place[1] if family in {"aa", "aa_lane", "path"} else -1
    fip = place[-1] if family in {"fip", "fip_lane", "path"} else -1
    return Candidate(
        family, symptom, place[0] if by_lane else -1, aa, fip,
        float(bounded.max()), float(full[tilt]),
        int(getattr(running.spoke, family)[index][int(np.argmax(bounded))]),
    )  # fmt: skip


def _overlapping(running: Running, one: Candidate) -> list[Candidate]:
    """Candidates of the same symptom that share cells with this one, the best of each sort."""
    lanes = LANES_OF[one.symptom]
    places: list[tuple[str, tuple[int, ...]]] = []
    if one.fip >= 0:
        places += [("fip", (one.symptom, one.fip))]
        places += [("fip_lane", (_strongest(running.full.fip_lane, lanes, one.fip), one.fip))]
    if one.aa >= 0:
        places += [("aa", (one.symptom, one.aa))]
        places += [("aa_lane", (_strongest(running.full.aa_lane, lanes, one.aa), one.aa))]
    paths = running.full.path[:, one.symptom].max(0)
    if one.fip >= 0 and one.aa < 0:
        places += [("path", (one.symptom, int(np.argmax(paths[:, one.fip])), one.fip))]
    if one.aa >= 0 and one.fip < 0:
        loudest = int(np.argmax(paths[one.aa]))
        places += [("path", (one.symptom, one.aa, loudest)), ("fip", (one.symptom, loudest))]
    mine = (one.family, one.lane, one.aa, one.fip)
    found = [_candidate(running, family, place) for family, place in places]
    return [other for other in found if (other.family, other.lane, other.aa, other.fip) != mine]


def _strongest(sums: np.typing.NDArray[np.float32], lanes: slice, place: int) -> int:
    return int(np.argmax(sums[:, lanes, place].max(0))) + int(lanes.start)


def _ambiguous(running: Running, best: Candidate) -> tuple[Locus, ...]:
    close = [
        other.locus
        for other in _overlapping(running, best)
        if other.full > 0 and abs(other.full - best.full) < _CLOSE
    ]
    return tuple(sorted(set(close)))
