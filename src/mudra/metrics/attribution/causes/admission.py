"""The joining of a finding: as a new one, as part of one, or as what it really was.

Two findings at one place are one cause. A path that turns out to be the FIP is
the same cause with a wider place, if the path was found lately; an old one
stays a cause of its own.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.attribution.causes.active import Active, bad_apis
from mudra.metrics.attribution.causes.cause import OF_TIMES, Kind, Locus, may_be_one
from mudra.metrics.attribution.evidence.lanes import LANES, Flags, Symptom, same_api

YOUNG: Final = 6
"""Windows within which a narrower cause can turn out to be part of a wider one."""
_HALF: Final = 0.5
_MANY_APIS: Final = 3
_WHOLE: Final = {Kind.FIP_API: Kind.FIP, Kind.AA_API: Kind.AA, Kind.NETWORK: Kind.NETWORK}


class Admitted(Struct, frozen=True):
    """The known causes with the finding among them."""

    known: tuple[Active, ...]
    number: int
    """Of the cause that the finding belongs to."""
    absorbed: tuple[int, ...]


class Finding(Struct, frozen=True):
    """A place and symptom that crossed the alarm level."""

    locus: Locus
    symptom: Symptom
    since: int
    earlier: tuple[int, ...]
    """Bad windows before the one that it was found in."""
    ambiguous_with: tuple[Locus, ...]


Traffic = Callable[[Locus, Symptom], tuple[Flags, Flags, Flags]]
"""Which AAs, FIPs and lanes have calls enough at a place to show a symptom."""


def admit(known: tuple[Active, ...], finding: Finding, fresh: Active, traffic: Traffic) -> Admitted:
    """Join the finding with what is known; `fresh` is the cause it becomes if it joins nothing."""
    symptoms = frozenset({finding.symptom})
    related = [
        one for one in known if _may_be_one(one, finding) and one.locus.kind is not Kind.AGENT
    ]
    for one in related:
        if one.locus.covers(finding.locus):
            joined = replace(
                one,
                symptoms=one.symptoms | symptoms,
                since=min(one.since, finding.since),
                earlier=finding.earlier,
            )
            return Admitted(_with(known, joined), one.number, ())
    wider = _wider_place(related, finding, traffic)
    inside = [
        one for one in related
        if wider.covers(_place(one)) and (
            finding.since - one.since <= YOUNG or one.locus.kind is Kind.NETWORK
        )
    ]  # fmt: skip
    if not inside:
        named = () if wider != finding.locus else finding.ambiguous_with
        joined = replace(fresh, locus=wider, ambiguous_with=named)
        return Admitted((*known, joined), fresh.number, ())
    oldest = min(inside, key=lambda one: one.number)
    moved = replace(
        fresh,
        number=oldest.number,
        locus=wider,
        symptoms=symptoms.union(*(one.symptoms for one in inside)),
        since=min(finding.since, *(one.since for one in inside)),
        strength=sum(one.strength for one in inside),
        ambiguous_with=() if wider != finding.locus else finding.ambiguous_with,
    )
    absorbed = tuple(one.number for one in inside if one.number != oldest.number)
    rest = tuple(one for one in known if one not in inside)
    return Admitted((*rest, moved), oldest.number, absorbed)


def _may_be_one(one: Active, finding: Finding) -> bool:
    """Return whether a known cause and a finding may be one, wherever they are.

    A FIP that fails while the whole network is slow is no part of that: only what all have is.
    """
    symptoms = frozenset({finding.symptom})
    if (one.locus.kind is Kind.NETWORK) != (finding.locus.kind is Kind.NETWORK):
        return bool(_of_one_kind(one.symptoms) & _of_one_kind(symptoms))
    return may_be_one(one.symptoms, symptoms)


def _of_one_kind(symptoms: frozenset[Symptom]) -> frozenset[Symptom]:
    return symptoms | OF_TIMES if symptoms & OF_TIMES else symptoms


def _place(one: Active) -> Locus:
    """Its place; of a path with the APIs that fail, so that it can be part of an API of its FIP."""
    return replace(one.locus, apis=bad_apis(one)) if one.locus.kind is Kind.PATH else one.locus


def _with(known: tuple[Active, ...], changed: Active) -> tuple[Active, ...]:
    return tuple(changed if one.number == changed.number else one for one in known)


def _wider_place(related: list[Active], finding: Finding, traffic: Traffic) -> Locus:
    """The FIP or AA instead of its parts, once at least half of what has traffic is affected."""
    locus = finding.locus
    siblings = [one for one in related if finding.since - one.since <= YOUNG]
    aas, fips, lanes = traffic(locus, finding.symptom)
    if locus.kind is Kind.NETWORK:
        siblings = [one for one in related if one.locus.kind is Kind.NETWORK]
        if not locus.apis or not all(one.locus.apis for one in siblings):
            return Locus(Kind.NETWORK)
    if locus.kind in {Kind.FIP_API, Kind.AA_API} or locus.apis:
        apis = set(locus.apis)
        for one in siblings:
            if one.locus.kind is locus.kind and (one.locus.aa, one.locus.fip) == (
                locus.aa, locus.fip
            ):  # fmt: skip
                apis |= set(one.locus.apis)
        distinct = _distinct(apis)
        busy = len({LANES[lane].api for lane in np.flatnonzero(lanes)})
        if distinct >= _MANY_APIS or (distinct > 1 and distinct >= _HALF * busy):
            return Locus(_WHOLE[locus.kind], locus.aa, locus.fip)
        return Locus(locus.kind, locus.aa, locus.fip, tuple(sorted(apis)))
    if locus.kind is Kind.PATH:
        paths = [one.locus for one in siblings if one.locus.kind is Kind.PATH] + [locus]
        at_fip = {path.aa for path in paths if path.fip == locus.fip}
        at_aa = {path.fip for path in paths if path.aa == locus.aa}
        if len(at_fip) > 1 and len(at_fip) >= _HALF * aas.sum():
            return Locus(Kind.FIP, -1, locus.fip)
        if len(at_aa) > 1 and len(at_aa) >= _HALF * fips.sum():
            return Locus(Kind.AA, locus.aa)
    return locus


def _distinct(apis: set[str]) -> int:
    """Return how many APIs, counting those that measure one thing once."""
    kept: list[str] = []
    for api in sorted(apis):
        if not any(same_api(api, other) for other in kept):
            kept.append(api)
    return len(kept)
