"""The network's health as Prometheus figures for an operator's own dashboards.

Set by the job that watches windows, as of the last closed one. What cannot be
said (no calls) is not shown at all: an old figure would look like health.
"""

from collections.abc import Mapping
from datetime import datetime

from mudra.metrics.coverage import TimeRange
from mudra.metrics.picture import ApiPicture, Coverage, Grouping, picture
from mudra.metrics.ports import Cell
from mudra.metrics.rollup import Rollup
from mudra.runtime.telemetry import (
    API_P50,
    API_REQUESTS,
    API_SUCCESS,
    INCIDENTS_OPEN,
    LAST_WINDOW,
    WINDOWS_MISSING,
)


def show_figures(
    totals: Mapping[Cell, Rollup], coverage: Coverage, within: TimeRange, open_incidents: int
) -> None:
    """Set the figures anew for the last closed window."""
    for gauge in (API_SUCCESS, API_P50, API_REQUESTS):
        gauge.clear()
    for row in picture(totals, Grouping.FIP, coverage):
        for api in row.apis:
            _show(row.subject.fip_id, api)
    proof = coverage.proof()
    WINDOWS_MISSING.set(proof.windows_expected - proof.windows_heard)
    INCIDENTS_OPEN.set(open_incidents)
    LAST_WINDOW.set(_seconds(within.end))


def _show(fip_id: str, api: ApiPicture) -> None:
    if api.health is None or api.tag.value[:3] != "req":
        return
    labels = (fip_id, api.type)
    API_REQUESTS.labels(*labels).set(api.health.total)
    if api.health.success is not None:
        API_SUCCESS.labels(*labels).set(api.health.success)
    if api.time is not None:
        API_P50.labels(*labels).set(api.time.p50.estimate / 1000)


def _seconds(at: datetime) -> float:
    return at.timestamp()
