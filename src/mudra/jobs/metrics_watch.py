"""The watch over windows as a job: observations, incidents, alarms to those concerned."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from mudra.bootstrap.dependencies import Dependencies
from mudra.jobs.metrics_alarms import send_alarms
from mudra.jobs.metrics_exporter import export_health
from mudra.metrics.health.picture import Coverage, expected_windows
from mudra.metrics.incidents.incident import Observation, Subject
from mudra.metrics.incidents.incident_change import Opened
from mudra.metrics.incidents.incident_detection import (
    Watched,
    find_changes,
    observe_window,
    reporting_of,
)
from mudra.metrics.notifications.incident_notifications import (
    IncidentNotification,
    StoredIncident,
    incident_notifications,
)
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.ids import fresh_id
from mudra.storage.database.database import Transaction
from mudra.storage.metrics.alarms import PostgresSilences
from mudra.storage.metrics.incidents import PostgresIncidents
from mudra.storage.metrics.receipts import OnboardedMembers
from mudra.storage.metrics.rollup_queries import PostgresRollupQueries
from mudra.storage.metrics.rollups import WORK_S

LOOK_BACK: Final = timedelta(hours=26)
BEFORE_OPEN: Final = timedelta(hours=2)
KEPT: Final = timedelta(days=8)
SILENCES_KEPT: Final = timedelta(days=90)
PAST_S: Final = 30.0
_MAX_COUNTED: Final = 10_000


async def watch(dependencies: Dependencies) -> Sequence[IncidentNotification]:
    """Heed new content of closed windows, and tell what it changes about incidents."""
    await _observe(dependencies)
    async with dependencies.database.transaction(within_s=WORK_S) as transaction:
        found = await _find(dependencies, transaction)
        await _show(transaction)
    return found


async def forget(dependencies: Dependencies) -> None:
    """Delete observations that no incident is found from any more, and silences long over."""
    async with dependencies.database.transaction() as transaction:
        now = await transaction.now()
        await PostgresIncidents(transaction).forget_observations(now - KEPT)
        await PostgresSilences(transaction).forget(now - SILENCES_KEPT)


async def _observe(dependencies: Dependencies) -> None:
    async with dependencies.database.transaction() as transaction:
        stale = await PostgresIncidents(transaction).stale_windows(await transaction.now())
    by_hour: dict[datetime, list[datetime]] = defaultdict(list)
    for window in stale:
        by_hour[window.replace(minute=0)].append(window)
    for windows in by_hour.values():
        async with dependencies.database.transaction(within_s=WORK_S) as transaction:
            store = PostgresIncidents(transaction)
            await store.alone()
            left = await store.still_stale(note for window in windows for note in stale[window])
            mine = [window for window in windows if not left.isdisjoint(stale[window])]
            if not mine:
                continue  # another watch has seen to them
            figures = PostgresRollupQueries(transaction)
            for window in mine:
                seen = observe_window(window, await figures.calls_of(window))
                await store.keep_observations(window, seen, stale[window])


async def find_past(dependencies: Dependencies, within: TimeRange) -> None:
    """Find incidents of a time that is no longer watched; nobody is alarmed about them."""
    async with dependencies.database.transaction(within_s=PAST_S) as transaction:
        store = PostgresIncidents(transaction)
        await store.alone()
        observations: dict[Subject, list[Observation]] = defaultdict(list)
        figures = PostgresRollupQueries(transaction)
        for window in within.windows:
            for subject, seen in observe_window(window, await figures.calls_of(window)).items():
                observations[subject].append(seen)
        known = [one.incident for one in await store.known(within.start)]
        opened = [
            change
            for subject, seen in observations.items()
            for change in find_changes(
                Watched(subject, seen, [one for one in known if one.subject == subject]), within
            )
            if isinstance(change, Opened)
        ]
        past = [IncidentNotification(fresh_id(), change, told=True) for change in opened]
        await store.keep(past, await transaction.now())


async def _find(
    dependencies: Dependencies, transaction: Transaction
) -> Sequence[IncidentNotification]:
    store = PostgresIncidents(transaction)
    await store.alone()
    now = await transaction.now()
    end = window_start(now)
    known = await store.known(end - LOOK_BACK)
    opened = [one.incident.began - BEFORE_OPEN for one in known if one.incident.ended is None]
    within = TimeRange(max(min([end - LOOK_BACK, *opened]), end - KEPT), end)
    watched = await _watched(store, transaction, known, within, now)
    changed = [change for one in watched for change in find_changes(one, within)]
    silences = await PostgresSilences(transaction).shown(now)
    found = incident_notifications(changed, known, silences, now, fresh_id)
    await store.keep(found, now)
    await send_alarms(dependencies, transaction, found, now)
    return found


async def _show(transaction: Transaction) -> None:
    now = await transaction.now()
    end = window_start(now)
    last = TimeRange(end - WINDOW, end)
    figures = PostgresRollupQueries(transaction)
    since = await OnboardedMembers(transaction).reporting_aas()
    coverage = Coverage(expected_windows(last, since, now), await figures.heard(last))
    still_open = await PostgresIncidents(transaction).shown(
        only_open=True, entity_id=None, limit=_MAX_COUNTED
    )
    export_health(await figures.over_aas(last), coverage, last, len(still_open))


async def _watched(
    store: PostgresIncidents,
    transaction: Transaction,
    known: Sequence[StoredIncident],
    within: TimeRange,
    now: datetime,
) -> list[Watched]:
    observations = dict(await store.observations(within))
    received = await store.received(within)
    for aa_id, since in (await OnboardedMembers(transaction).reporting_aas()).items():
        subject, seen = reporting_of(aa_id, since, received.get(aa_id, {}), within, now)
        observations[subject] = seen
    by_subject: dict[Subject, list[StoredIncident]] = {}
    for one in known:
        by_subject.setdefault(one.incident.subject, []).append(one)
    return [
        Watched(
            subject,
            observations.get(subject, ()),
            [one.incident for one in by_subject.get(subject, ())],
        )
        for subject in {**observations, **by_subject}
    ]
