"""The state of this process: whether it may answer, and what keeps it from all of its work."""

from typing import Final

from mudra.http.dependencies import Readiness
from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.sealed_values import require_known_versions
from mudra.storage.database.clock_watch import ClockWatch
from mudra.storage.database.database import Database

_TOKENS_GO_ON: Final = frozenset({Outage.READ_ONLY, Outage.DISK_FULL})
"""Causes that all nodes share, and that end no reads: a proxy that turned away from every node
would end the tokens too (decision 0080)."""


class NodeState:
    """Implements http/dependencies.py NodeState."""

    def __init__(
        self,
        database: Database,
        clock_watch: ClockWatch,
        keyring: Keyring,
    ) -> None:
        self._database = database
        self._keyring = keyring
        self._clock_watch = clock_watch
        self.stopping = False

    def out_of_service(self) -> ServiceUnavailable | None:
        """Return why no request may be answered; asks memory alone."""
        return self._clock_watch.outage()

    async def readiness(self) -> Readiness:
        """Return what this process can do now; asks the database too."""
        if self.stopping:
            return Readiness(ServiceUnavailable(Outage.STOPPING))
        found = self.out_of_service() or await self._database.outage()
        if found is not None and found.cause not in _TOKENS_GO_ON:
            return Readiness(found)
        try:
            async with self._database.transaction() as transaction:
                await require_known_versions(transaction, self._keyring)
        except ServiceUnavailable as outage:
            return Readiness(outage)
        return Readiness(impairment=found)
