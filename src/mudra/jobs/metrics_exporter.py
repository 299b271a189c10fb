"""The network's health as Prometheus metrics for an operator's own dashboards.

Set by the job that detects incidents, as of the last closed window. What is not
known (no calls, or another node runs the job) is NaN: an old value would look like health. The
end of the last window stays, since an old one looks like what it is: detection has stopped.
"""

from collections.abc import Sequence
from math import nan
from typing import Final

from prometheus_client import Gauge

from mudra.jobs.telemetry import (
    API_P50,
    API_REQUESTS,
    API_SUCCESS,
    CAUSES,
    INCIDENTS_OPEN,
    LAST_WINDOW,
    MAINTENANCE,
    WINDOWS_MISSING,
)
from mudra.metrics.health.picture import ApiPicture, Grouping
from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.maintenance import MaintenanceWork
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import closed_before

_exported: Final[set[tuple[Gauge, tuple[str, str]]]] = set()
"""The labels set for the last window by this process."""
_causes: Final[set[tuple[str, str, str, str]]] = set()
"""The labels of all causes that this process exported."""
_maintained: Final[set[str]] = set()
"""All entities whose maintenance this process exported."""


async def export_health(work: MaintenanceWork) -> None:
    """Sets the metrics for the last closed window."""
    last = closed_before(work.now, WINDOW)
    rows = await work.health.rows(last, Grouping.FIP, work.now)
    assert isinstance(rows, tuple)  # by FIP they are never too many
    onboarded = await work.health.onboarded_fips()
    proof = (await work.health.coverage(last, work.now)).proof()
    still_open = await work.incidents.open_causes()
    _forget_apis()
    for row in rows:
        # A gauge never deletes a label: no label for a FIP ID that only an AA reported.
        for api in row.apis if row.subject.fip_id in onboarded else ():
            _export_api(row.subject.fip_id, api)
    WINDOWS_MISSING.set(proof.windows_expected - proof.windows_received)
    INCIDENTS_OPEN.set(len(still_open))
    _export_causes([one.incident.subject for one in still_open])
    _export_maintenance(
        {
            one.entity_id
            for one in await work.silences.ending_after(work.now)
            if one.maintenance and one.begins <= work.now
        }
    )
    LAST_WINDOW.set(last.end.timestamp())


def forget_health() -> None:
    """Sets all but the last window's end to NaN: another node runs the job, and shows what is so.

    The alarm reads the latest end of all nodes. With NaN on this one it would compare with
    nothing, and stay silent, once the other node is gone and no run succeeds here.
    """
    _forget_apis()
    for gauge in (WINDOWS_MISSING, INCIDENTS_OPEN):
        gauge.set(nan)
    for labels in _causes:
        CAUSES.labels(*labels).set(nan)
    for entity_id in _maintained:
        MAINTENANCE.labels(entity_id).set(nan)


def _forget_apis() -> None:
    # A gauge of several processes cannot delete its labels: those not set again become NaN.
    for gauge, labels in _exported:
        gauge.labels(*labels).set(nan)
    _exported.clear()


def _export_causes(subjects: Sequence[Subject]) -> None:
    names = [name_of(one) for one in subjects]
    now = {(one.kind.value, one.entity_id, one.peer_id, one.type) for one in names}
    _causes.update(now)
    for labels in _causes:
        CAUSES.labels(*labels).set(labels in now)


def _export_maintenance(entities: set[str]) -> None:
    _maintained.update(entities)
    for entity_id in _maintained:
        MAINTENANCE.labels(entity_id).set(entity_id in entities)


def _export_api(fip_id: str, api: ApiPicture) -> None:
    if api.health is None or api.tag.value[:3] != "req":
        return
    labels = (fip_id, api.type)
    _set(API_REQUESTS, labels, api.health.total)
    if api.health.success is not None:
        _set(API_SUCCESS, labels, api.health.success)
    if api.time is not None:
        _set(API_P50, labels, api.time.p50.estimate / 1000)


def _set(gauge: Gauge, labels: tuple[str, str], value: float) -> None:
    gauge.labels(*labels).set(value)
    _exported.add((gauge, labels))
