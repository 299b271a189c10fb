"""What the demonstration is given to work with; `bootstrap/dependencies.py` fills it."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Protocol

from mudra.metrics.maintenance import MaintenanceWork
from mudra.registry.payload.url_rules import AddressPolicy
from mudra.storage.database.database import Database
from mudra.storage.database.time_machine import MovableClock, PostgresTimeMachine
from mudra.storage.metrics.reports import KnownPartitions
from mudra.unit_of_work import TRANSACTION_S, UnitOfWork


class DemoSettings(Protocol):
    """The settings that the demonstration reads."""

    @property
    def data_dir(self) -> Path:
        """The data directory, where the agents' files go."""

    @property
    def host(self) -> str:
        """Where the service listens."""

    @property
    def port(self) -> int:
        """The port it listens on."""

    @property
    def token_prefix(self) -> str:
        """Path of the token service."""

    @property
    def metrics_prefixes(self) -> Sequence[str]:
        """Paths of the metrics push."""


class Dependencies(Protocol):
    """The store of this process, and the sandbox's clock."""

    @property
    def settings(self) -> DemoSettings:
        """The settings in force."""

    @property
    def clock(self) -> MovableClock:
        """The service's clock."""

    @property
    def time_machine(self) -> PostgresTimeMachine:
        """Moves that clock as the database says."""

    @property
    def address_policy(self) -> AddressPolicy:
        """The addresses that registry entries may hold."""

    @property
    def database(self) -> Database:
        """The database, for windows of the past."""

    @property
    def partitions(self) -> KnownPartitions:
        """The partitions that exist."""

    def unit_of_work(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[UnitOfWork]:
        """Open a transaction with all its ports."""

    def metrics_maintenance(
        self, *, within_s: float
    ) -> AbstractAsyncContextManager[MaintenanceWork]:
        """Open a transaction for the detection of past incidents."""
