"""Shares of incidents whose trigger "what changed before this?" names first, or among five.

A simulated network of 40 AAs and 400 FIPs with changes at random times, most of which break
nothing. Each incident has a known trigger, which came a random time before (median 15 minutes, one
in ten more than two hours), or none. Rates and lags are of this file alone: the ranking knows
neither. Next to it, the same with the nearest change first.

    python -m bench.what_changed
"""

import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct
from tests.support.metrics.incidents import an_incident

from bench.sizes import exit_code, sized
from mudra.metrics.incidents.incident import (
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Incident,
    Network,
    Subject,
)
from mudra.timeline.happening import Happening, HappeningKind
from mudra.timeline.ranking import what_changed_before

AAS: Final = [f"AA-{number}" for number in range(40)]
FIPS: Final = [f"FIP-{number}" for number in range(400)]
DAY: Final = timedelta(days=1)
NOW: Final = datetime(2026, 3, 1, tzinfo=UTC)
K: Final = HappeningKind
A_MEMBER: Final = {K.SECRET: 1 / 20, K.REGISTRATION: 1 / 20, K.MAINTENANCE: 1 / 7}
"""Changes of one member a day: far more than a quiet network has."""
AN_AA: Final = {K.AGENT: 1 / 15}
THE_NETWORK: Final = {K.KEY: 1 / 15, K.RELEASE: 1 / 7, K.ANNOUNCEMENT: 1 / 2}
TRIGGERS: Final = {
    "FIP": ((K.REGISTRATION, 6), (K.MAINTENANCE, 5), (K.SECRET, 1), (K.KEY, 1)),
    "AA": ((K.SECRET, 5), (K.REGISTRATION, 4), (K.AGENT, 3), (K.KEY, 1)),
    "agent": ((K.AGENT, 5), (K.SECRET, 3), (K.RELEASE, 1)),
    "network": ((K.RELEASE, 5), (K.KEY, 4), (K.ANNOUNCEMENT, 1)),
}
OF_NETWORK: Final = frozenset(THE_NETWORK)


class Scene(Struct, frozen=True):
    """An incident with all changes of its day, and the one that caused it."""

    incident: Incident
    happenings: Sequence[Happening]
    trigger: Happening | None


def main() -> int:
    """Play the scenes, and print the shares; returns 1 when a goal is missed."""
    count, chance = sized(20_000, 1_500), random.Random(46)
    scenes = [scene(chance) for _ in range(count)]
    caused = [one for one in scenes if one.trigger is not None]
    ours = [place(one, nearest=False) for one in caused]
    nearest = [place(one, nearest=True) for one in caused]
    changes = sum(len(one.happenings) for one in scenes) / count
    print(f"{len(caused):,} incidents with a trigger, {changes:.0f} changes in the day before each")
    for name, places in (("ranked", ours), ("nearest first", nearest)):
        print(f"{name}: trigger first {share(places, 1):.3f}, among five {share(places, 5):.3f}")
    for kind in TRIGGERS:
        of_kind = [at for at, one in zip(ours, caused, strict=True) if kind_of(one) == kind]
        print(f"  {kind}: first {share(of_kind, 1):.3f}, among five {share(of_kind, 5):.3f}")
    quiet = [one for one in scenes if one.trigger is None]
    sure = sum(score(one) >= 0.5 for one in quiet)  # half of the highest score
    print(f"without a trigger: {sure / len(quiet):.3f} have a change with a score of 0.5 or more")
    met = share(ours, 1) >= 0.85 and share(ours, 5) >= 0.95  # the goals
    print(f"every goal of what changed met: {'yes' if met else 'no'}")
    return exit_code(met=met)


def scene(chance: random.Random) -> Scene:
    """Make one incident, its day of changes, and its trigger (none for one in four)."""
    kind = chance.choices([*TRIGGERS], (10, 6, 3, 1))[0]
    incident = incident_of(subject_of(kind, chance), chance)
    happenings = background(incident.began, chance)
    if chance.random() < 1 / 4:
        return Scene(incident, happenings, None)
    kinds, weights = zip(*TRIGGERS[kind], strict=True)
    what = chance.choices(kinds, weights)[0]
    lag = timedelta(minutes=min(chance.lognormvariate(2.7, 1.6), 23 * 60))
    whose = "" if what in OF_NETWORK else at_cause(incident.subject)
    trigger = Happening(incident.began - lag, what, whose, "the trigger")
    everything = [*happenings, trigger]
    chance.shuffle(everything)
    return Scene(incident, everything, trigger)


def background(began: datetime, chance: random.Random) -> list[Happening]:
    """Return a day of changes that have nothing to do with an incident."""
    found = []
    for entity_id in (*AAS, *FIPS, ""):
        rates = A_MEMBER if entity_id else THE_NETWORK
        if entity_id in AAS:
            rates = A_MEMBER | AN_AA
        for kind, a_day in rates.items():
            if chance.random() < a_day:
                at = began - chance.random() * DAY
                found.append(Happening(at, kind, entity_id, "a change"))
    return found


def place(one: Scene, *, nearest: bool) -> int:
    """Return the place of the trigger among the candidates; 99 where it is none."""
    if nearest:
        changes = sorted(one.happenings, key=lambda each: one.incident.began - each.at)
    else:
        found = what_changed_before(one.incident, one.happenings)
        changes = [each.happening for each in found]
    return next((at for at, each in enumerate(changes, 1) if each is one.trigger), 99)


def score(one: Scene) -> float:
    """Return the highest score."""
    found = what_changed_before(one.incident, one.happenings)
    return found[0].score if found else 0.0


def share(places: Sequence[int], most: int) -> float:
    """Return the share of places up to one."""
    return sum(at <= most for at in places) / max(1, len(places))


def subject_of(kind: str, chance: random.Random) -> Subject:
    """Return a subject of a kind."""
    match kind:
        case "FIP":
            fip = chance.choice(FIPS)
            return Fip(fip) if chance.random() < 1 / 2 else FipApi(fip, "fif")
        case "AA":
            return AaCalls(chance.choice(AAS))
        case "agent":
            return AaReporting(chance.choice(AAS))
        case _:
            return Network()


def kind_of(one: Scene) -> str:
    """Return the kind of a subject, as `TRIGGERS` names it."""
    subject = one.incident.subject
    if isinstance(subject, Fip | FipApi):
        return "FIP"
    if isinstance(subject, AaCalls):
        return "AA"
    return "agent" if isinstance(subject, AaReporting) else "network"


def at_cause(subject: Subject) -> str:
    """Return the member at the cause."""
    if isinstance(subject, Fip | FipApi):
        return subject.fip_id
    return subject.aa_id if isinstance(subject, AaCalls | AaReporting) else ""


def incident_of(subject: Subject, chance: random.Random) -> Incident:
    """Return an open incident; the calls of all AAs, or to some FIPs, are affected."""
    began = NOW + chance.randrange(144) * timedelta(minutes=10)
    affected = tuple(chance.sample(AAS, 8)) if isinstance(subject, Fip | FipApi) else ()
    fips = tuple(chance.sample(FIPS, 40)) if isinstance(subject, AaCalls) else ()
    return an_incident(subject, began, affected_aas=affected, affected_fips=fips)


if __name__ == "__main__":
    sys.exit(main())
