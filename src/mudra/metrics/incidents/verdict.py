"""The verdict on an incident in plain words: whom it affects, and what speaks for its place."""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.incidents.contrast import Contrast
from mudra.metrics.incidents.incident import (
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
    """While it is open those of its latest window, then the mean of its bad ones; else None."""


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
        return None if cause.of_heartbeats else round(cause.failures / _MINUTES, 1)
    if incident.failing and incident.bad_windows:
        failed = incident.eligible - incident.succeeded
        return round(failed / incident.bad_windows / _MINUTES, 1)
    return None


def grounds(incident: Incident, rows: Sequence[Contrast], names: Names = NO_NAMES) -> str:
    """Returns what speaks for the place of the cause, as far as the calls of its bad time say it.

    Empty where that is not certain. `rows` are those of `contrasts`.
    """
    cause = incident.cause
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
            where = fip if isinstance(incident.subject, Fip) else f"this API of {fip}"
            seen, verb = _listed(aas, "AA"), _see(aas)
            others = _reaches(compared, f"of their calls to other FIPs {SHARE}", "the FIP")
            return f"{seen} {verb} it at {where}{others}."
        case AaCalls() | AaApi():
            others = _reaches(compared, f"of other AAs' calls to them {SHARE}", "the AA")
            return f"{aa} sees it at {_listed(fips, 'FIP')}{others or _NO_OTHER_AA}."
        case Path():
            shares = [_share_that_works(one) for one in compared]
            if len(shares) != _BOTH_ENDS or None in shares:
                return f"{aa} sees it at {fip}."
            of_aa, of_fip = shares
            return (
                f"{of_aa} % of {aa}'s calls to other FIPs succeeded, and {of_fip} % of other AAs' "
                f"calls to {fip}: it is between the two."
            )
        case Network():
            return "Nearly all AAs and FIPs with enough calls are affected at once."
        case AaReporting():
            return f"No reports come from {aa}. Whether its calls succeed is not known."


SHARE: Final = "%s %% succeeded"
_BOTH_ENDS: Final = 2
_NO_OTHER_AA: Final = "; whether other AAs reach them is not known"


def _see(aas: Sequence[str]) -> str:
    return "sees" if len(aas) == 1 else "see"


def _reaches(compared: Sequence[Contrast], text: str, place: str) -> str:
    """Returns the clause about calls that the cause does not hit; empty unless they succeed."""
    shares = [share for one in compared if (share := _share_that_works(one)) is not None]
    return f"; {text % shares[0]}: it is at {place}" if shares else ""


def _share_that_works(row: Contrast) -> float | None:
    """Returns the percentage of these calls that succeeded, if the network's rule is kept."""
    works = row.eligible > 0 and row.succeeded * 100 > row.eligible * GOOD_ABOVE_PERCENT
    return percentage(share_of(row.succeeded, row.eligible), 1) if works else None


def _listed(ids: Sequence[str], kind: str) -> str:
    if len(ids) == 1:
        return f"{kind} {ids[0]}"
    named = ", ".join(ids[:_NAMED])
    more = len(ids) - _NAMED
    return f"{len(ids)} {kind}s ({named}{f' and {more} more' if more > 0 else ''})"
