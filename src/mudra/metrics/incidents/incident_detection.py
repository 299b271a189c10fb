"""Watch the windows: from the calls of one window to what it says of every subject."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from msgspec import Struct

from mudra.metrics.health.health import verdict_of_calls
from mudra.metrics.incidents.incident import (
    CALL_RULES,
    REPORTING_RULES,
    AaCalls,
    AaReporting,
    FipApi,
    Incident,
    Observation,
    Subject,
    incidents,
    observation,
    reporting_observations,
)
from mudra.metrics.incidents.incident_change import Change, changes
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.ports import Calls
from mudra.metrics.rollup.coverage import TimeRange


def observe_window(window: datetime, calls: Iterable[Calls]) -> dict[FipApi | AaCalls, Observation]:
    """What one window says of each API of each FIP, and of the calls of each AA."""
    by_api: dict[tuple[str, str], list[RequestBlock]] = defaultdict(list)
    by_aa: dict[str, list[RequestBlock]] = defaultdict(list)
    for aa_id, fip_id, block in calls:
        by_api[fip_id, block.type].append(block)
        by_aa[aa_id].append(block)
    parts: dict[FipApi | AaCalls, list[RequestBlock]] = {
        **{FipApi(*key): found for key, found in by_api.items()},
        **{AaCalls(aa_id): found for aa_id, found in by_aa.items()},
    }
    return {
        subject: observation(window, verdict_of_calls(found)) for subject, found in parts.items()
    }


class Watched(Struct, frozen=True):
    """One subject: what its windows said within `within`, and the incidents known of it."""

    subject: Subject
    observations: Sequence[Observation]
    known: Sequence[Incident]


def find_changes(watched: Watched, within: TimeRange) -> tuple[Change, ...]:
    """What is new about a subject; incidents that began before `within` are left as they are."""
    rules = REPORTING_RULES if isinstance(watched.subject, AaReporting) else CALL_RULES
    frozen = [known for known in watched.known if known.began < within.start]
    found = [
        incident
        for incident in incidents(watched.subject, watched.observations, within.end, rules)
        if not any(old.ended is None or incident.began <= old.ended for old in frozen)
    ]
    return changes([known for known in watched.known if known not in frozen], found)


def reporting_of(
    aa_id: str,
    since: datetime,
    received: Mapping[datetime, datetime],
    within: TimeRange,
    now: datetime,
) -> tuple[AaReporting, list[Observation]]:
    """Whether an AA reported each window of this time, since it was to."""
    expected = TimeRange(max(since, within.start), within.end).windows
    return AaReporting(aa_id), reporting_observations(expected, received, now)
