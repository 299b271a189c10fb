"""The figures of all FIPs between the process that judges them and the one that shows them.

A gauge of the library would be an object and a line of a shared file for each FIP and API: with
2,000 FIPs that is 74 MB, and 2.4 s for each scrape (decision 0197). Here it is one file, which
each run replaces, so that a label that is not of the last window is not shown.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from mudra.metrics.health.fip_figures import FipFigures

LABELS: Final = ("fip", "api")
_NAME: Final = "fip_figures_{}.msgpack"
_UNFINISHED: Final = ".new"
_DECODER: Final = msgspec.msgpack.Decoder(list[FipFigures])


def write_figures(folder: Path, figures: Sequence[FipFigures]) -> None:
    """Replaces the figures of this process; a reader has the old ones or the new ones whole.

    Raises OSError when the disk is full; the old ones are dropped then, as they are of a former
    window.
    """
    path = _of_process(folder, os.getpid())
    fresh = path.with_suffix(_UNFINISHED)
    try:
        fresh.write_bytes(msgspec.msgpack.encode(figures))
        fresh.replace(path)
    except OSError:
        forget_figures(folder, os.getpid())
        raise


def forget_figures(folder: Path, pid: int) -> None:
    """Drops the figures of a process, if it has any."""
    path = _of_process(folder, pid)
    path.unlink(missing_ok=True)
    path.with_suffix(_UNFINISHED).unlink(missing_ok=True)


class FipFiguresCollector(Collector):
    """Shows the figures that the processes of this node wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields a family of samples for each of the three metrics."""
        requests, success, p50 = families()
        for path in self._folder.glob(_NAME.format("*")):
            with suppress(FileNotFoundError):  # dropped since it was listed
                for one in _DECODER.decode(path.read_bytes()):
                    labels = (one.fip_id, one.api)
                    requests.add_metric(labels, one.requests)
                    if one.success is not None:
                        success.add_metric(labels, one.success)
                    if one.p50_s is not None:
                        p50.add_metric(labels, one.p50_s)
        yield from (requests, success, p50)


def families() -> tuple[GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily]:
    """Returns the three metrics without samples."""
    return (
        GaugeMetricFamily(
            "mudra_fip_api_requests",
            "Requests of all AAs in the last closed window",
            labels=LABELS,
        ),
        GaugeMetricFamily(
            "mudra_fip_api_success_ratio",
            "Share of success in the last closed window, 4xx left out",
            labels=LABELS,
        ),
        GaugeMetricFamily(
            "mudra_fip_api_p50_seconds",
            "Estimated median response time in the last closed window",
            labels=LABELS,
        ),
    )


def _of_process(folder: Path, pid: int) -> Path:
    return folder / _NAME.format(pid)
