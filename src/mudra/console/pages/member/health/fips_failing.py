"""FIPs of a FIU that fail: by their incidents, and what is bad without one. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final

from mudra.metrics.health.health import Status
from mudra.metrics.health.picture import Row
from mudra.metrics.incidents.incident import Path, StoredIncident
from mudra.metrics.incidents.subject import fip_of

_MOST: Final = 5
"""Names in one sentence."""


def failing_fips(incidents: Sequence[StoredIncident], *, chosen: bool) -> int:
    """Returns at how many FIPs an incident is open; none where the page is about a `chosen` FIP."""
    found = {fip_of(one.incident.subject) for one in incidents if one.is_open} - {None}
    return 0 if chosen else len(found)


def of_one_aa(
    incidents: Sequence[StoredIncident], now_open: Sequence[StoredIncident]
) -> frozenset[str]:
    """Returns the FIPs of open paths that have no incident of their own."""
    known = {fip_of(one.incident.subject) for one in incidents}
    paths = {
        one.incident.subject.fip_id for one in now_open if isinstance(one.incident.subject, Path)
    }
    return frozenset(paths - known)


def unexplained(
    rows: Sequence[Row],
    incidents: Sequence[StoredIncident],
    now_open: Sequence[StoredIncident],
    names: Mapping[str, str],
) -> Mapping[str, Sequence[str]]:
    """Returns the FIPs that are bad without an incident of their own, and the FIPs of open paths.

    The row of a path's FIP may be good with few successes: what one AA alone sees is not weighed.
    The AA is not named: the public status does not name it either.
    """
    known = {fip_of(one.incident.subject) for one in incidents}
    shown = {row.subject.fip_id for row in rows} - known
    paths = shown & of_one_aa(incidents, now_open)
    bad = shown & {
        row.subject.fip_id
        for row in rows
        if any(api.health is not None and api.health.status is Status.BAD for api in row.apis)
    }
    return {
        "on_path": _named(paths, names),
        "without_incident": _named(bad - paths, names),
    }


def _named(fip_ids: set[str], names: Mapping[str, str]) -> Sequence[str]:
    return sorted(names.get(one, one) for one in fip_ids)[:_MOST]
