"""The verdict on an incident in plain words: whom it affects, and what speaks for its place."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.localization.language import gettext, translatable
from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.incidents.contrast import Contrast
from mudra.metrics.incidents.incident import (
    HARM,
    AaApi,
    AaCalls,
    AaReporting,
    Fip,
    FipApi,
    Incident,
    Network,
    Path,
)
from mudra.metrics.incidents.subject import NO_NAMES, Names, aa_concerned, fip_concerned
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.percentage import percentage, share_of

_NAMED: Final = 3
_MINUTES: Final = WINDOW.total_seconds() / 60


class Reach(Struct, frozen=True):
    """The people and calls that an incident affects, and how many calls in a minute."""

    aas: tuple[str, ...]
    fips: tuple[str, ...]
    apis: tuple[str, ...]
    calls_a_minute: float | None
    """While it is open those of its latest window, then the mean of its bad ones; else None.

    All that fail; of calls that reach their data, slow or refused, those beyond the usual number.
    """


def reach_of(incident: Incident) -> Reach:
    """Returns what an incident affects."""
    cause = incident.cause
    return Reach(
        cause.affected_aas, cause.affected_fips, cause.affected_apis, _calls_a_minute(incident)
    )


def _calls_a_minute(incident: Incident) -> float | None:
    if isinstance(incident.subject, AaReporting) or incident.by_heartbeats:
        return None
    if incident.ended is None:
        cause = incident.cause
        usual = cause.expected if HARM.isdisjoint(cause.symptoms) else 0.0
        affected = max(cause.failures - usual, 0.0)
        return None if cause.of_heartbeats else round(affected / _MINUTES, 1)
    if incident.failing and incident.bad_windows:
        failed = incident.eligible - incident.succeeded
        return round(failed / incident.bad_windows / _MINUTES, 1)
    return None


def grounds(
    incident: Incident, rows: Sequence[Contrast], names: Names = NO_NAMES, *, filled: int = 0
) -> str:
    """Returns what speaks for the place of the cause, as far as the calls of its bad time say it.

    Empty where that is not certain. `rows` are those of `contrasts`; `filled` is how many windows
    that an AA did not report in time it reported later.
    """
    cause, says = incident.cause, _NOW if incident.ended is None else _OVER
    if cause.ambiguous_with:
        return ""
    compared = [one for one in rows if one.affected is None] if incident.failing else []
    aas, fips = (
        [names.get(one, one) for one in ids] for ids in (cause.affected_aas, cause.affected_fips)
    )
    aa, fip = (
        names.get(one, one) if one else ""
        for one in (aa_concerned(incident.subject), fip_concerned(incident.subject))
    )
    match incident.subject:
        case Fip() | FipApi():
            is_whole = isinstance(incident.subject, Fip)
            where = fip if is_whole else gettext("this API of %(fip)s", fip=fip)
            seen = says.seen_by_one if len(aas) == 1 else says.seen_by_several
            text = gettext(seen, seen=_listed(aas, _AAS), where=where)
            return text + _reaches(compared, says.at_the_fip) + gettext(".")
        case AaCalls() | AaApi():
            others = _reaches(compared, says.at_the_aa) or gettext(says.no_other_aa)
            text = gettext(says.seen_by_one, seen=aa, where=_listed(fips, _FIPS))
            return text + others + gettext(".")
        case Path():
            shares = [_share_that_works(one) for one in compared]
            if len(shares) != _BOTH_ENDS or None in shares:
                return gettext(says.seen_by_one, seen=aa, where=fip) + gettext(".")
            of_aa, of_fip = shares
            return gettext(says.between, of_aa=of_aa, aa=aa, of_fip=of_fip, fip=fip)
        case Network():
            return gettext(says.network)
        case AaReporting():
            return gettext(says.silent if incident.ended is None else _gap(incident, filled), aa=aa)


def _gap(incident: Incident, filled: int) -> str:
    if filled <= 0:
        return _NEVER_FILLED
    return _FILLED_IN_PART if filled < incident.bad_windows else _FILLED


class _Says(Struct, frozen=True):
    """The sentences about an incident that goes on, or of one that is over."""

    seen_by_one: str
    seen_by_several: str
    at_the_fip: str
    at_the_aa: str
    no_other_aa: str
    between: str
    network: str
    silent: str
    """Of one that goes on alone."""


_NOW: Final = _Says(
    translatable("%(seen)s sees it at %(where)s"),
    translatable("%(seen)s see it at %(where)s"),
    translatable("; of their calls to other FIPs %(share)s %% succeeded: it is at the FIP"),
    translatable("; of other AAs' calls to them %(share)s %% succeeded: it is at the AA"),
    translatable("; whether other AAs reach them is not known"),
    translatable(
        "%(of_aa)s %% of %(aa)s's calls to other FIPs succeeded, and %(of_fip)s %% of other AAs' "
        "calls to %(fip)s: it is between the two."
    ),
    translatable("Nearly all AAs and FIPs with enough calls are affected at once."),
    translatable("No reports come from %(aa)s. Whether its calls succeed is not known."),
)
_OVER: Final = _Says(
    translatable("%(seen)s saw it at %(where)s"),
    translatable("%(seen)s saw it at %(where)s"),
    translatable("; of their calls to other FIPs %(share)s %% succeeded: it was at the FIP"),
    translatable("; of other AAs' calls to them %(share)s %% succeeded: it was at the AA"),
    translatable("; whether other AAs reached them is not known"),
    translatable(
        "%(of_aa)s %% of %(aa)s's calls to other FIPs succeeded, and %(of_fip)s %% of other AAs' "
        "calls to %(fip)s: it was between the two."
    ),
    translatable("Nearly all AAs and FIPs with enough calls were affected at once."),
    "",
)
_NEVER_FILLED: Final = translatable(
    "Reports from %(aa)s were missing. No late report has filled the gap."
)
_FILLED_IN_PART: Final = translatable(
    "Reports from %(aa)s were missing. Late reports have filled in some of the gap."
)
_FILLED: Final = translatable("Reports from %(aa)s were missing. Late reports have filled the gap.")
_AAS: Final = (
    translatable("AA %(id)s"),
    translatable("%(count)s AAs (%(named)s)"),
    translatable("%(count)s AAs (%(named)s and %(more)s more)"),
)
_FIPS: Final = (
    translatable("FIP %(id)s"),
    translatable("%(count)s FIPs (%(named)s)"),
    translatable("%(count)s FIPs (%(named)s and %(more)s more)"),
)
"""How one is named, several, and more than are named."""
_BOTH_ENDS: Final = 2


def _reaches(compared: Sequence[Contrast], text: str) -> str:
    """Returns the clause about calls that the cause does not hit; empty unless they succeed."""
    shares = [share for one in compared if (share := _share_that_works(one)) is not None]
    return gettext(text, share=shares[0]) if shares else ""


def _share_that_works(row: Contrast) -> float | None:
    """Returns the percentage of these calls that succeeded, if the network's rule is kept."""
    works = row.eligible > 0 and row.succeeded * 100 > row.eligible * GOOD_ABOVE_PERCENT
    return percentage(share_of(row.succeeded, row.eligible), 1) if works else None


def _listed(ids: Sequence[str], texts: tuple[str, str, str]) -> str:
    one, several, many = texts
    if len(ids) == 1:
        return gettext(one, id=ids[0])
    named, more = ", ".join(ids[:_NAMED]), len(ids) - _NAMED
    text = many if more > 0 else several
    return gettext(text, count=len(ids), named=named, more=more)
