"""A history for the demonstration network: days of traffic through the real validation.

Each payload is stored as it would have been in its own time, so receipts, sums,
health and incidents are the real ones. The newest day is first: today's
health is available at once, the rest follows.
"""

import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from mudra.demo.dependencies import Dependencies
from mudra.demo.network import DEMO_NETWORK
from mudra.demo.past import Past
from mudra.identity.accounts.people_store import People
from mudra.metrics.detection.detection_service import WATCHED
from mudra.metrics.health.recorded_history import PastReport, take_history
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.payload.report import Report, encode_report
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.rollup.coverage import TimeRange
from mudra.storage.metrics.stored_report import storable

_DAY: Final = timedelta(days=1)
_PUSH_DELAY_S: Final = (35, 95)
"""Seconds from the end of a window to the arrival of its payloads, as agents push."""
_CHUNK_S: Final = 30.0
_EVALUATE_S: Final = 600.0
_NO_MARKS: Final = datetime.max.replace(tzinfo=UTC)
"""No window is marked for the watch: all are evaluated together, in their order."""


async def demo_aas(dependencies: Dependencies) -> tuple[str, ...]:
    """Returns the AAs of the demonstration network, found by ID and their admin's address.

    There are none without a demonstration network; its addresses belong to no one (RFC 2606).
    """
    async with dependencies.transaction() as tx:
        existing = {
            (one.entity_id, admin) for one in await People(tx).members() for admin in one.admins
        }
    return tuple(
        one.entity_id
        for one in DEMO_NETWORK
        if one.entity_type == "AA" and (one.entity_id, one.admin) in existing
    )


async def reported(
    dependencies: Dependencies, aa_ids: Sequence[str], within: TimeRange
) -> set[tuple[str, datetime]]:
    """Returns the windows of these AAs for which anything was received."""
    found: set[tuple[str, datetime]] = set()
    async with dependencies.history() as history:
        for aa_id in aa_ids:
            by_tag = await history.receipts.windows(aa_id, within)
            found.update((aa_id, window) for windows in by_tag.values() for window in windows)
    return found


async def fill_history(
    dependencies: Dependencies, past: Past, aa_ids: Sequence[str], on_progress: Callable[[], None]
) -> int:
    """Fills every window that no one reported; calls `on_progress` after each day of each AA.

    Returns the number of payloads stored. Windows with a simulated failure replace
    stored content.
    """
    stored = 0
    for day in past.days:
        for aa_id in aa_ids:
            reports = list(_reports(past, aa_id, day))
            async with dependencies.history(within_s=_CHUNK_S) as history:
                # So long since another fill, or the agent, may hold the lock.
                stored += await take_history(aa_id, reports, _NO_MARKS, history)
            on_progress()
    if stored:
        async with dependencies.metrics_maintenance(within_s=_EVALUATE_S) as work:
            await work.detection.evaluate_past(_evaluated_from(past, work.now), work.now)
    return stored


def _evaluated_from(past: Past, now: datetime) -> datetime:
    """The first window to evaluate: that of the watched time, or a day before a disruption."""
    begins = [one.begin - _DAY for one in past.traffic.disruptions]
    return max(past.within.first, window_start(min([now - WATCHED, *begins])))


def _reports(past: Past, aa_id: str, day: TimeRange) -> Iterator[PastReport]:
    for window in day.windows:
        if (aa_id, window) in past.left_out:
            continue
        dice = random.Random(f"{past.seed} {aa_id} {window.isoformat()}")  # noqa: S311  # no secret
        hit = any(one.begin <= window < one.end for one in past.traffic.disruptions)
        received_at = window + WINDOW + timedelta(seconds=dice.uniform(*_PUSH_DELAY_S))
        for make in (past.traffic.requests, past.traffic.notifications):
            report = make(aa_id, window, str(uuid.uuid4()), dice)
            yield PastReport(
                _checked(report, received_at), str(uuid.uuid4()), received_at, replaces=hit
            )


def _checked(report: Report, received_at: datetime) -> StorableReport:
    checked = check_report(encode_report(report), received_at)
    assert isinstance(checked, CheckedReport), checked
    return storable(checked)
