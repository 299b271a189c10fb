"""The verdict on an incident in plain words: what is broken, and why it is found there."""

import math
from collections.abc import Sequence
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
)
from mudra.metrics.payload.catalogue import WINDOW

_SURE: Final = 1_000
_NAMED: Final = 3
_MINUTES: Final = WINDOW.total_seconds() / 60


class Reach(Struct, frozen=True):
    """Whom and what an incident affects, and how many calls in a minute."""

    aas: tuple[str, ...]
    fips: tuple[str, ...]
    apis: tuple[str, ...]
    calls_a_minute: float | None
    """Those that failed in its bad windows, or show another symptom now; None for an agent's."""


def reach_of(incident: Incident) -> Reach:
    """Returns what an incident affects."""
    cause = incident.cause
    return Reach(
        cause.affected_aas, cause.affected_fips, cause.affected_apis, _calls_a_minute(incident)
    )


def _calls_a_minute(incident: Incident) -> float | None:
    if isinstance(incident.subject, AaReporting):
        return None
    if incident.failing and incident.bad_windows:
        failed = incident.eligible - incident.succeeded
        return round(failed / incident.bad_windows / _MINUTES, 1)
    # The counts of a cause are those of the latest window, also of a good one.
    return None if incident.ended else round(incident.cause.failures / _MINUTES, 1)


def grounds(incident: Incident) -> str:
    """Returns why the cause lies where it is said to lie; empty where that is not certain."""
    cause = incident.cause
    if cause.ambiguous_with:
        return ""
    match incident.subject:
        case Fip(fip):
            aas = _listed(cause.affected_aas, "AA")
            return f"{aas} see it at {fip}, and reach other FIPs: the cause is at the FIP."
        case FipApi(fip, _):
            aas = _listed(cause.affected_aas, "AA")
            return f"{aas} see it at this API of {fip}; its other APIs work: it is at the FIP."
        case AaCalls(aa) | AaApi(aa, _):
            fips = _listed(cause.affected_fips, "FIP")
            return f"{aa} sees it at {fips}, which other AAs reach: the cause is at the AA."
        case Path(aa, fip):
            return f"{aa} reaches other FIPs, and other AAs reach {fip}: it is between the two."
        case Network():
            return "Nearly all AAs and FIPs are affected at once: the cause is common to all."
        case AaReporting(aa):
            return f"No reports come from {aa}. Whether its calls succeed is not known."


def certainty(incident: Incident) -> str:
    """Returns how strong the evidence of all bad windows is, as odds against chance."""
    if isinstance(incident.subject, AaReporting):
        return ""
    strength = incident.cause.strength
    if strength > math.log(_SURE):
        return f"more than {_SURE:,} to 1 against chance"
    return f"{max(round(math.exp(strength)), 1):,} to 1 against chance"


def _listed(ids: Sequence[str], kind: str) -> str:
    if len(ids) == 1:
        return f"{kind} {ids[0]}"
    named = ", ".join(ids[:_NAMED])
    more = len(ids) - _NAMED
    return f"{len(ids)} {kind}s ({named}{f' and {more} more' if more > 0 else ''})"
