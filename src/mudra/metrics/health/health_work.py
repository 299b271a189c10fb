"""Transactions with the health service, as those who read in the background open them."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mudra.metrics.health.health_service import HealthService


class HealthUnitOfWork(Protocol):
    """One transaction with the service."""

    @property
    def health(self) -> HealthService:
        """The service."""
        ...


class OpenHealth(Protocol):
    """Opens a transaction."""

    def __call__(self, *, within_s: float) -> AbstractAsyncContextManager[HealthUnitOfWork]:
        """Opens one that is aborted after so many seconds."""
        ...
