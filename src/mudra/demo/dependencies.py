"""The dependencies of the demonstration, provided by `bootstrap/dependencies.py`."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mudra.demo.time_machine import MovableClock, PostgresTimeMachine
from mudra.metrics.health.recorded_history import HistoryService
from mudra.metrics.maintenance import MaintenanceWork
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.settings.settings import Settings
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.database.transaction import Transaction


class Dependencies(Protocol):
    """The store of this process, and the sandbox's clock."""

    @property
    def settings(self) -> Settings:
        """The settings in force."""

    @property
    def clock(self) -> MovableClock:
        """The service's clock."""

    @property
    def encryption(self) -> DataEncryption:
        """The keys in the store."""

    @property
    def time_machine(self) -> PostgresTimeMachine:
        """Moves that clock to the time stored in the database."""

    @property
    def address_policy(self) -> AddressPolicy:
        """The addresses that registry entries may contain."""

    def history(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[HistoryService]:
        """Opens a transaction for past windows."""

    async def close(self) -> None:
        """Closes the connections."""

    def transaction(
        self, *, within_s: float = TRANSACTION_S
    ) -> AbstractAsyncContextManager[Transaction]:
        """Opens a transaction with all its ports."""

    def metrics_maintenance(
        self, *, within_s: float
    ) -> AbstractAsyncContextManager[MaintenanceWork]:
        """Opens a transaction for the detection of past incidents."""
