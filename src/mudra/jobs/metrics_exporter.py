"""The network's health as Prometheus metrics for an operator's own dashboards.

Set by the job that detects incidents, as of the last closed window. What is not known since
another node runs the job is NaN, or not shown: an old value would look like health. The end of
the last window stays, since an old one looks like what it is: detection has stopped.
"""

import os
from math import nan
from pathlib import Path

from mudra.jobs.network_figures import NetworkFigures, forget_figures, write_figures
from mudra.jobs.telemetry import (
    INCIDENTS_OPEN,
    LAST_WINDOW,
    WINDOWS_EXPECTED,
    WINDOWS_MISSING,
)
from mudra.metrics.incidents.incident import Subject
from mudra.metrics.incidents.subject import name_of
from mudra.metrics.maintenance import MaintenanceWork
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange, closed_before, due_until


async def export_health(work: MaintenanceWork, folder: Path) -> None:
    """Sets the metrics for the last closed window; those with labels are in a file."""
    last = closed_before(work.now, WINDOW)
    figures = await work.health.figures_of_fips(last)
    onboarded = await work.health.onboarded_fips()
    # Not of the last closed window: its reports may still come in time, so none of them is missing.
    due = due_until(work.now)
    proof = (await work.health.coverage(TimeRange(due - WINDOW, due), work.now)).proof()
    still_open = await work.incidents.open_causes()
    WINDOWS_EXPECTED.set(proof.windows_expected)
    WINDOWS_MISSING.set(proof.windows_expected - proof.windows_received)
    INCIDENTS_OPEN.set(len(still_open))
    planned = await work.silences.ending_after(work.now)
    LAST_WINDOW.set(last.end.timestamp())
    # At last, since it needs room on the disk. Of no FIP ID that only an AA reported: made-up ones
    # would be series of their own.
    shown = NetworkFigures(
        [one for one in figures if one.fip_id in onboarded],
        sorted({_labels(one.incident.subject) for one in still_open}),
        sorted({one.entity_id for one in planned if one.maintenance and one.begins <= work.now}),
    )
    write_figures(folder, shown)


def forget_health(folder: Path) -> None:
    """Sets all but the last window's end to NaN: another node runs the job, and shows what is so.

    What has labels of members is dropped.

    The alarm reads the latest end of all nodes. With NaN on this one it would compare with
    nothing, and stay silent, once the other node is gone and no run succeeds here.
    """
    forget_figures(folder, os.getpid())
    for gauge in (WINDOWS_EXPECTED, WINDOWS_MISSING, INCIDENTS_OPEN):
        gauge.set(nan)


def _labels(subject: Subject) -> tuple[str, str, str, str]:
    name = name_of(subject)
    return name.kind.value, name.entity_id, name.peer_id, name.type
