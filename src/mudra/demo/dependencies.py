"""The dependencies of the demonstration, provided by `bootstrap/dependencies.py`."""

from typing import Protocol

from mudra.demo.time_machine import MovableClock, PostgresTimeMachine
from mudra.metrics.health.recorded_history import HistoryService
from mudra.metrics.maintenance import OpenMaintenance
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.settings.settings import Settings
from mudra.storage.crypto.data_encryption import DataEncryption
from mudra.storage.database.transaction import Opens, OpenTransaction


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

    @property
    def history(self) -> Opens[HistoryService]:
        """Opens a transaction for past windows."""

    async def close(self) -> None:
        """Closes the connections."""

    @property
    def transaction(self) -> OpenTransaction:
        """Opens a transaction with all its ports."""

    @property
    def metrics_maintenance(self) -> OpenMaintenance:
        """Opens a transaction for the detection of past incidents."""
