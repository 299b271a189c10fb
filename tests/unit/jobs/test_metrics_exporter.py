"""What a node shows of the network once another one judges it."""

from math import isnan
from pathlib import Path

from prometheus_client import REGISTRY

from mudra.jobs.metrics_exporter import forget_health
from mudra.jobs.telemetry import INCIDENTS_OPEN, LAST_WINDOW, WINDOWS_MISSING

END = 1_767_225_600.0


def shown(name: str) -> float:
    value = REGISTRY.get_sample_value(name)
    assert value is not None, name
    return value


def test_the_end_of_the_last_window_stays_and_what_would_look_like_health_does_not(
    tmp_path: Path,
) -> None:
    LAST_WINDOW.set(END)
    WINDOWS_MISSING.set(0)
    INCIDENTS_OPEN.set(0)

    forget_health(tmp_path)

    assert shown("mudra_metrics_last_window_seconds") == END
    assert isnan(shown("mudra_metrics_windows_missing"))
    assert isnan(shown("mudra_health_incidents_open"))
