"""Figures with labels of members, from the process that judges them to the one that shows them.

A gauge of the library would be an object and a line of a shared file for each FIP and API: with
2,000 FIPs that is 74 MB, and 2.4 s for each scrape (decision 0113). Nor could it lose a label: a
cause that is over, and a maintenance, would be kept for ever. Here it is one file, which
each run replaces, so that a label that is not of the last window is not shown.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from mudra.metrics.health.judging import FipFigures

_OF_FIPS: Final = ("fip", "api")
_OF_CAUSES: Final = ("kind", "entity", "peer", "api")
_OF_MAINTENANCE: Final = ("entity",)
_NAME: Final = "network_figures_{}.msgpack"
_UNFINISHED: Final = ".new"


class NetworkFigures(Struct, frozen=True):
    """The present state: the figures of FIPs, causes by their labels, entities in maintenance."""

    fips: Sequence[FipFigures] = ()
    causes: Sequence[tuple[str, str, str, str]] = ()
    maintained: Sequence[str] = ()


_DECODER: Final = msgspec.msgpack.Decoder(NetworkFigures)


class Family(Struct, frozen=True):
    """A metric with labels of members."""

    name: str
    text: str
    labels: tuple[str, ...]

    def empty(self) -> GaugeMetricFamily:
        """Returns it without samples."""
        return GaugeMetricFamily(self.name, self.text, labels=self.labels)


REQUESTS: Final = Family(
    "mudra_fip_api_requests", "Requests of all AAs in the last closed window", _OF_FIPS
)
SUCCESS: Final = Family(
    "mudra_fip_api_success_ratio",
    "Share of success in the last closed window, 4xx left out",
    _OF_FIPS,
)
P50: Final = Family(
    "mudra_fip_api_p50_seconds",
    "Estimated median response time in the last closed window",
    _OF_FIPS,
)
CAUSES: Final = Family(
    "mudra_health_cause",
    "1 while this is the cause of an incident that is not over by the evidence, else not shown: a"
    " FIP, an AA, some of their APIs, the path from an AA to a FIP (peer), the network, or an AA"
    " whose reports are missing",
    _OF_CAUSES,
)
MAINTENANCE: Final = Family(
    "mudra_health_maintenance",
    "1 while the entity is in planned maintenance, else not shown: nothing is judged about it",
    _OF_MAINTENANCE,
)
FAMILIES: Final = (REQUESTS, SUCCESS, P50, CAUSES, MAINTENANCE)


def write_figures(folder: Path, figures: NetworkFigures) -> None:
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


class NetworkFiguresCollector(Collector):
    """Shows the figures that the processes of this node wrote."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yields a family of samples for each of the metrics."""
        requests, success, p50, causes, maintenance = (one.empty() for one in FAMILIES)
        for path in self._folder.glob(_NAME.format("*")):
            with suppress(FileNotFoundError):  # dropped since it was listed
                found = _DECODER.decode(path.read_bytes())
                for one in found.fips:
                    labels = (one.fip_id, one.api)
                    requests.add_metric(labels, one.requests)
                    if one.success is not None:
                        success.add_metric(labels, one.success)
                    if one.p50_s is not None:
                        p50.add_metric(labels, one.p50_s)
                for cause in found.causes:
                    causes.add_metric(cause, 1)
                for entity_id in found.maintained:
                    maintenance.add_metric((entity_id,), 1)
        yield from (requests, success, p50, causes, maintenance)


def _of_process(folder: Path, pid: int) -> Path:
    return folder / _NAME.format(pid)
