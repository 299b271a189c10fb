"""The health of the network up to the last closed window, as feed and public status read it."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec
from msgspec import Struct

from mudra.metrics.health.feed import Planned
from mudra.metrics.health.fip_health import FipHealth
from mudra.metrics.health.fip_state import FipStates
from mudra.metrics.health.health import Disputed
from mudra.metrics.health.level_change import LevelChange
from mudra.metrics.health.own_calls import OwnCalls, OwnTotals, no_own_calls
from mudra.metrics.health.picture import Row
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.rollup.coverage import Coverage, TimeRange

LATELY: Final = timedelta(hours=1)
"""The time of which an AA's reports show that it reports now, as on the page of network health."""
_AHEAD: Final = timedelta(days=1)
"""A maintenance that begins within so long is in the feed."""


class HealthOfMember(Struct, frozen=True):
    """The health of one member: an AA's calls, a FIP as all AAs see it, a FIU's FIPs."""

    rows: tuple[Row, ...]
    coverage: Coverage


class NetworkHealth(Struct, frozen=True, eq=False):
    """The health of FIPs over all AAs, up to the last closed window.

    Compared by identity: it is megabytes, and all readers get the same one.
    """

    fips: Mapping[str, FipHealth]
    within: TimeRange
    coverage: Coverage
    lately: Coverage
    """Of the last hour: an AA that fell silent reported nothing of it."""
    reported_until: datetime | None
    """The end of the last window that any AA reported; None for no report."""
    causes: tuple[Incident, ...]
    """Of now, the oldest first."""
    disputed: Disputed
    states: FipStates
    maintenance: tuple[Planned, ...] = ()
    """Of FIPs, that are going on or begin within a day."""
    own: OwnCalls = msgspec.field(default_factory=no_own_calls)
    """As far as windows are judged."""
    incidents: tuple[Incident, ...] = ()
    """That the time has a part of, open or over; no withdrawn ones."""
    changed: tuple[LevelChange, ...] = ()
    own_hours: Mapping[datetime, OwnTotals] = msgspec.field(default_factory=dict)
    """What `own` adds up, by hour; the first one may have begun before the time."""


def planned(
    silences: Iterable[Silence], fips: Collection[str], now: datetime
) -> tuple[Planned, ...]:
    """Returns the maintenances of these FIPs that are going on or begin within a day."""
    return tuple(
        Planned(one.entity_id, one.begins, one.ends, one.begins <= now)
        for one in silences
        if one.maintenance
        and one.has_time
        and one.entity_id in fips
        and one.begins <= now + _AHEAD
        and one.ends > now
    )
