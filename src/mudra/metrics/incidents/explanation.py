"""The calls that a cause explains: the one answer that every picture of health shows."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from msgspec import Struct

from mudra.localization.language import gettext
from mudra.metrics.attribution.causes.closing import CHANGES_AFTER, SMALL_FOR_GOOD
from mudra.metrics.incidents.incident import (
    NO_CAUSES,
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
    StoredIncident,
    Symptom,
    TimelineChange,
)
from mudra.metrics.incidents.subject import (
    NO_NAMES,
    Names,
    apis_of,
    fip_of,
    in_sentence,
    name_of,
    readers_of,
    text_of,
)
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange


def failing_apis(incidents: Iterable[Incident]) -> frozenset[tuple[str, str]]:
    """Returns FIPs with the codes of their APIs, of each incident that is not of all APIs."""
    named = [(fip_of(one.subject), name_of(one.subject).type) for one in incidents]
    return frozenset((fip_id, codes) for fip_id, codes in named if fip_id and codes)


def causes_of(incidents: Iterable[StoredIncident], within: TimeRange) -> Sequence[StoredIncident]:
    """Returns those that are causes of troubles in this time, in their order.

    Neither withdrawn ones nor those whose cause is another one of them.
    """
    return [
        one
        for one in incidents
        if one.incident.ending not in NO_CAUSES
        and one.incident.began < within.end
        and (one.incident.ended is None or one.incident.ended > within.start)
    ]


class Ends(NamedTuple):
    """The AA and the FIP of calls; None for any."""

    aa_id: str | None
    fip_id: str | None


def ends_of(incident: Incident) -> Ends | None:
    """Returns the ends of the calls that show this cause; None where no calls do.

    A silent agent is shown by none: its AA's calls are not known to fail.
    """
    match incident.subject:
        case Fip(fip) | FipApi(fip, _):
            return Ends(None, fip)
        case AaCalls(aa) | AaApi(aa, _):
            return Ends(aa, None)
        case Path(aa, fip):
            return Ends(aa, fip)
        case Network():
            return Ends(None, None)
        case AaReporting():
            return None


def of_api(incident: Incident, code: str) -> bool:
    """Returns whether a cause is about an API; an empty code means any."""
    codes = apis_of(incident)
    return not code or not codes or code in codes


def concerns(incident: Incident, aa_id: str | None, fip_id: str | None) -> bool:
    """Returns whether a cause is at these members or reaches them; None means any."""
    subject, cause = incident.subject, incident.cause
    match subject:
        case Fip(fip) | FipApi(fip, _):
            return fip_id in {None, fip} and (aa_id is None or aa_id in cause.affected_aas)
        case AaCalls(aa) | AaApi(aa, _):
            return aa_id in {None, aa} and (fip_id is None or fip_id in cause.affected_fips)
        case Path(aa, fip):
            return aa_id in {None, aa} and fip_id in {None, fip}
        case AaReporting(aa):
            return aa_id in {None, aa} and fip_id is None
        case Network():
            return True


def may_see(incident: Incident, entity_id: str, *, of_fips: bool = False) -> bool:
    """Returns whether a member is shown an incident: the ones that it would be notified of.

    With `of_fips` all that lie at FIPs, as for a FIU, which depends on them.
    """
    if isinstance(incident.subject, Network):
        return True
    if of_fips and fip_of(incident.subject) is not None:
        return True
    return entity_id in readers_of(incident.subject, incident.cause.affected_aas)


def cause_text(incident: Incident, names: Names = NO_NAMES) -> str:
    """Returns the name of a cause, with those that the evidence does not separate from it."""
    others = [in_sentence(one, names) for one in incident.cause.ambiguous_with]
    return gettext(" or ").join([text_of(incident.subject, names), *others])


_NOT_OF_RATES: Final = {Symptom.SLOW, Symptom.TAIL, Symptom.MISSING}


def changed_by(incident: Incident) -> datetime | None:
    """Returns when few calls that fail at a FIP, if it goes on evenly, are usual: no outage.

    None of any other incident.
    """
    failed = incident.eligible - incident.succeeded
    is_small = incident.failing and failed <= SMALL_FOR_GOOD * incident.eligible
    is_even = not _NOT_OF_RATES & {*incident.cause.symptoms}
    is_at_fip = isinstance(incident.subject, Fip | FipApi)
    if incident.ended is not None or not (is_small and is_even and is_at_fip):
        return None
    return incident.began + (CHANGES_AFTER + 1) * WINDOW  # the end of the last bad one


MIN_FIPS: Final = 3
"""Two may fall in one window by chance."""


class AtOnce(Struct, frozen=True):
    """FIPs whose incidents began, or began again, in one window or the next.

    `provider` is the GSP of all.
    """

    began: datetime
    incident_ids: tuple[str, ...]
    fips: tuple[str, ...]
    provider: str = ""

    @property
    def text(self) -> str:
        """Return the headline, in the current language."""
        if self.provider:
            return gettext(
                "%(count)s FIPs at once, all served by %(provider)s",
                count=len(self.fips),
                provider=self.provider,
            )
        return gettext("%(count)s FIPs at once", count=len(self.fips))


def at_once(incidents: Mapping[str, Incident], providers: Mapping[str, str]) -> Sequence[AtOnce]:
    """Returns the groups among incidents, by ID; `providers` has the GSP of each FIP with one.

    A window later is still at once: a small FIP shows less in the first. Slow calls and failures
    are no group.
    """
    found = []
    for failing in (True, False):
        left = sorted(
            (_fell(one), name)
            for name, one in incidents.items()
            if (Symptom.FAILURES in one.cause.symptoms) is failing and _counts(one)
        )
        while left:
            began = left[0][0]
            names = [name for at, name in left if at <= began + WINDOW]
            left = left[len(names) :]
            fips = {fip_of(incidents[name].subject) or "" for name in names}
            if len(fips) >= MIN_FIPS:
                of_all = {providers.get(fip, "") for fip in fips}
                provider = of_all.pop() if len(of_all) == 1 else ""
                found.append(AtOnce(began, tuple(names), tuple(sorted(fips)), provider))
    return found


def _fell(incident: Incident) -> datetime:
    """Returns when it began the last time: what recovered hours ago falls with others now."""
    again = [one.window for one in incident.timeline if one.change is TimelineChange.REOPENED]
    return max(again, default=incident.began)


def _counts(incident: Incident) -> bool:
    is_one = incident.ending not in NO_CAUSES
    return is_one and not incident.refused and fip_of(incident.subject) is not None
