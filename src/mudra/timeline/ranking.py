"""Changes before an incident: its candidates, ranked by nearness, kind and whom they are of.

The score of a candidate is a product. Nearness halves with every hour before the first bad window.
The weight of its kind says how often a change of this kind breaks calls of such a subject; that of
its place is high where the change is of the member at the cause. A rank is a hint and no proof: the
page says so. Measured on simulated incidents in `bench/what_changed.py`.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.incident import (
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    Subject,
)
from mudra.metrics.payload.catalogue import WINDOW
from mudra.timeline.happening import Happening, HappeningKind

LOOK_BACK: Final = timedelta(hours=24)
MAX_SHOWN: Final = 5
_HALF: Final = timedelta(hours=1)
_OF_FIP: Final = {
    HappeningKind.REGISTRATION: 1.0,
    HappeningKind.MAINTENANCE: 0.9,
    HappeningKind.SECRET: 0.4,
    HappeningKind.KEY: 0.5,
    HappeningKind.RELEASE: 0.2,
    HappeningKind.AGENT: 0.1,
    HappeningKind.ANNOUNCEMENT: 0.2,
}
_OF_AA: Final = {
    HappeningKind.SECRET: 1.0,
    HappeningKind.REGISTRATION: 0.9,
    HappeningKind.AGENT: 0.7,
    HappeningKind.MAINTENANCE: 0.6,
    HappeningKind.KEY: 0.5,
    HappeningKind.RELEASE: 0.2,
    HappeningKind.ANNOUNCEMENT: 0.2,
}
_OF_AGENT: Final = {
    HappeningKind.AGENT: 1.0,
    HappeningKind.SECRET: 0.9,
    HappeningKind.RELEASE: 0.6,
    HappeningKind.MAINTENANCE: 0.5,
    HappeningKind.REGISTRATION: 0.4,
    HappeningKind.KEY: 0.4,
    HappeningKind.ANNOUNCEMENT: 0.2,
}
_OF_NETWORK: Final = {
    HappeningKind.RELEASE: 1.0,
    HappeningKind.KEY: 1.0,
    HappeningKind.ANNOUNCEMENT: 0.6,
    HappeningKind.REGISTRATION: 0.1,
    HappeningKind.MAINTENANCE: 0.1,
    HappeningKind.SECRET: 0.05,
    HappeningKind.AGENT: 0.05,
}
_AT_CAUSE: Final = 1.0
_OF_ALL: Final = 0.4
"""A change of the whole network, for an incident of one member."""
_AFFECTED: Final = 0.15
"""A change at one of those whom the incident affects."""


class Candidate(Struct, frozen=True):
    """A change before an incident, and its score from 0 to 1."""

    happening: Happening
    score: float
    before: timedelta
    """How long before the first bad window; negative for one within that window."""


def parties_of(incident: Incident) -> frozenset[str]:
    """Return the members at the cause and those that it affects."""
    cause = incident.cause
    return _at_cause(incident.subject) | {*cause.affected_aas, *cause.affected_fips}


def what_changed_before(incident: Incident, happenings: Iterable[Happening]) -> Sequence[Candidate]:
    """Return the changes of the day before an incident, the likeliest first, five at most.

    One within the first bad window is a candidate too: when in it the trouble began is not known.
    """
    weights = _weights(incident.subject)
    at_cause, parties = _at_cause(incident.subject), parties_of(incident)
    found = []
    for one in happenings:
        before = incident.began - one.at
        if one.kind not in weights or not -WINDOW < before <= LOOK_BACK:
            continue
        score = weights[one.kind] * _place(one, at_cause, parties) * _nearness(before)
        if score:
            found.append(Candidate(one, score, before))
    return sorted(found, key=lambda one: (-one.score, one.happening.at))[:MAX_SHOWN]


def _nearness(before: timedelta) -> float:
    return float(0.5 ** (max(before, timedelta()) / _HALF))


def _place(one: Happening, at_cause: frozenset[str], parties: frozenset[str]) -> float:
    if one.entity_id in at_cause or (not one.entity_id and not at_cause):
        return _AT_CAUSE
    if not one.entity_id:
        return _OF_ALL
    return _AFFECTED if one.entity_id in parties else 0.0


def _at_cause(subject: Subject) -> frozenset[str]:
    match subject:
        case Fip(fip_id) | FipApi(fip_id, _):
            return frozenset({fip_id})
        case AaCalls(aa_id) | AaApi(aa_id, _) | AaReporting(aa_id):
            return frozenset({aa_id})
        case Path(aa_id, fip_id):
            return frozenset({aa_id, fip_id})
        case Network():
            return frozenset()


def _weights(subject: Subject) -> dict[HappeningKind, float]:
    match subject:
        case Fip() | FipApi():
            return _OF_FIP
        case AaReporting():
            return _OF_AGENT
        case AaCalls() | AaApi() | Path():
            return _OF_AA
        case Network():
            return _OF_NETWORK
