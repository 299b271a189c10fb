"""The network's health as Prometheus figures for an operator's own dashboards.

Set by the job that watches windows, as of the last closed one. What cannot be
said (no calls) is NaN: an old figure would look like health.
"""

from collections.abc import Mapping
from datetime import datetime
from math import nan
from typing import Final

from prometheus_client import Gauge

from mudra.bootstrap.telemetry import (
    API_P50,
    API_REQUESTS,
    API_SUCCESS,
    INCIDENTS_OPEN,
    LAST_WINDOW,
    WINDOWS_MISSING,
)
from mudra.metrics.health.picture import ApiPicture, Coverage, Grouping, picture
from mudra.metrics.ports import Cell
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.rollup import Rollup

_shown: Final[set[tuple[Gauge, tuple[str, str]]]] = set()
"""What was said of the last window: by this process, which is the only one that says it."""


def export_health(
    totals: Mapping[Cell, Rollup], coverage: Coverage, within: TimeRange, open_incidents: int
) -> None:
    """Set the figures anew for the last closed window."""
    # A gauge of several processes cannot forget its labels: what is not said again is no number.
    for gauge, labels in _shown:
        gauge.labels(*labels).set(nan)
    _shown.clear()
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
    _set(API_REQUESTS, labels, api.health.total)
    if api.health.success is not None:
        _set(API_SUCCESS, labels, api.health.success)
    if api.time is not None:
        _set(API_P50, labels, api.time.p50.estimate / 1000)


def _set(gauge: Gauge, labels: tuple[str, str], value: float) -> None:
    gauge.labels(*labels).set(value)
    _shown.add((gauge, labels))


def _seconds(at: datetime) -> float:
    return at.timestamp()
