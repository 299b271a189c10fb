"""The network's health as Prometheus metrics for an operator's own dashboards.

Set by the job that detects incidents, as of the last closed window. What is not known since
another node runs the job is NaN, or not shown: an old value would look like health. The end of
the last window stays, since an old one looks like what it is: detection has stopped.
"""

import os
from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Final

from mudra.jobs.fip_figures import forget_figures, write_figures
from mudra.jobs.telemetry import (
    CAUSES,
    INCIDENTS_OPEN,
    LAST_WINDOW,
    MAINTENANCE,
    WINDOWS_MISSING,
)
from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.maintenance import MaintenanceWork
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import closed_before

_causes: Final[set[tuple[str, str, str, str]]] = set()
"""The labels of all causes that this process exported."""
_maintained: Final[set[str]] = set()
"""All entities whose maintenance this process exported."""


async def export_health(work: MaintenanceWork, folder: Path) -> None:
    """Sets the metrics for the last closed window; those of FIPs are in a file of the folder."""
    last = closed_before(work.now, WINDOW)
    figures = await work.health.figures_of_fips(last)
    onboarded = await work.health.onboarded_fips()
    proof = (await work.health.coverage(last, work.now)).proof()
    still_open = await work.incidents.open_causes()
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
    # At last, since it needs room on the disk. Of no FIP ID that only an AA reported: made-up ones
    # would be series of their own.
    write_figures(folder, [one for one in figures if one.fip_id in onboarded])


def forget_health(folder: Path) -> None:
    """Sets all but the last window's end to NaN: another node runs the job, and shows what is so.

    The figures of FIPs are dropped.

    The alarm reads the latest end of all nodes. With NaN on this one it would compare with
    nothing, and stay silent, once the other node is gone and no run succeeds here.
    """
    forget_figures(folder, os.getpid())
    for gauge in (WINDOWS_MISSING, INCIDENTS_OPEN):
        gauge.set(nan)
    for labels in _causes:
        CAUSES.labels(*labels).set(nan)
    for entity_id in _maintained:
        MAINTENANCE.labels(entity_id).set(nan)


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
