"""Faults of what AAs report and of what is made of it, for `bench/alerts.py`."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
from tests.support.metrics.health_network import HealthNetwork, a_network, at_fip
from tests.support.metrics.metrics_push import sum_up
from tests.support.process import running_service

from bench.alert_faults import AnyScene, Fault, Place, Scene, output_kept, receiver
from bench.sizes import SHORT
from bench.support import free_port
from mudra.storage.database.embedded.server import embedded_server

_TURN_A_BYTE: Final = (
    "UPDATE metrics_block SET numbers = set_byte(numbers, 8, 255 - get_byte(numbers, 8))"
    " WHERE grain = 'window' AND aa_id <> '' AND tag = 'req'"
    " AND at = (SELECT min(at) FROM metrics_block WHERE grain = 'window' AND aa_id <> '')"
)
_SUMS_GONE: Final = "DELETE FROM metrics_block WHERE grain = 'hour' AND tag = 'req'"
_NIGHT: Final = "DELETE FROM job_run WHERE name = 'metrics-recount'"
"""Its run of last night was not: it is made at once."""


class Network(Place, frozen=True, kw_only=True):
    """Two AAs that report on two FIPs in a sandbox, so that windows pass at once."""

    network: HealthNetwork
    webhook: int

    def say(self, *statements: str) -> None:
        """Execute statements as the database's superuser."""
        with (
            embedded_server(self.network.service.data_dir) as url,
            psycopg.connect(url, autocommit=True) as connection,
        ):
            for statement in statements:
                connection.execute(statement.encode())


@contextlib.contextmanager
def _network(folder: Path) -> Iterator[Network]:
    telemetry, webhook = free_port(), free_port()
    with (
        running_service(
            folder / "data", full_hashes=not SHORT, MUDRA_TELEMETRY_PORT=str(telemetry)
        ) as service,
        output_kept(service.process.stdout, folder / "service.log"),
    ):
        network = a_network(service, aas=2, fips=2)
        network.windows(12)
        network.settled()
        sum_up(service)
        yield Network(
            folder=folder,
            port=int(service.root.rpartition(":")[2]),
            telemetry=telemetry,
            network=network,
            webhook=webhook,
        )


@contextlib.contextmanager
def _silent(place: Network, number: int) -> Iterator[None]:
    network = place.network
    network.silent.update(one.aa_id for one in network.aas[:number])
    network.windows(4)
    try:
        yield
    finally:
        network.silent.clear()
        network.windows(4)


@contextlib.contextmanager
def _one_aa_is_silent(place: Network) -> Iterator[None]:
    with _silent(place, 1):
        yield


@contextlib.contextmanager
def _all_aas_are_silent(place: Network) -> Iterator[None]:
    with _silent(place, len(place.network.aas)):
        yield


def _a_day_later(place: Network) -> None:
    """Let the day end of which the recount of the night is, at whatever hour this runs."""
    place.network.service.advance("P1D")


@contextlib.contextmanager
def _sums_are_gone(place: Network) -> Iterator[None]:
    _a_day_later(place)
    place.say(_SUMS_GONE, _NIGHT)
    yield


@contextlib.contextmanager
def _block_is_damaged(place: Network) -> Iterator[None]:
    _a_day_later(place)
    place.say(_TURN_A_BYTE, _NIGHT)
    try:
        yield
    finally:
        place.say(_TURN_A_BYTE)


@contextlib.contextmanager
def _webhook_is_away(place: Network) -> Iterator[None]:
    """Nothing listens at its port, for more than a day of the service's clock."""
    network = place.network
    address = f"http://127.0.0.1:{place.webhook}/alarms"
    assert network.noc.post("/health/webhooks", url=address).status_code == 200
    network.windows(4, at_fip(network.fips[0].entity_id, failing=0.9))
    network.settled()
    network.service.advance("PT25H")
    yield
    with receiver(place.webhook):
        network.service.advance("PT1H")


SCENES: Final[dict[str, AnyScene]] = {
    "network": Scene[Network](
        _network,
        (
            Fault(("MudraReportsMissing",), "one of two AAs does not report", _one_aa_is_silent),
            Fault(("MudraPushesStopped",), "no AA reports", _all_aas_are_silent),
            Fault(("MudraSumsDiffer",), "sums of hours are deleted", _sums_are_gone),
            Fault(
                ("MudraBlockDamaged", "MudraRecountFailing"),
                "a byte of a stored report is changed",
                _block_is_damaged,
            ),
            Fault(
                ("MudraWebhooksFailing",),
                "nothing listens at a webhook's address for a day (clock moved)",
                _webhook_is_away,
            ),
        ),
    ),
}
