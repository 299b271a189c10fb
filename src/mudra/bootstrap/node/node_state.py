"""Whether this process may answer, and what keeps it from doing all of its work."""

from mudra.shared.unavailable import Outage, ServiceUnavailable
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.sealed_values import require_known_versions
from mudra.storage.database.clock_watch import ClockWatch
from mudra.storage.database.database import Database


class NodeState:
    """Implements http/dependencies.py NodeState."""

    def __init__(
        self,
        database: Database,
        metrics: Database | None,
        clock_watch: ClockWatch,
        keyring: Keyring,
    ) -> None:
        """`metrics` is the second database, where the metrics are in one."""
        self._database = database
        self._metrics = metrics
        self._keyring = keyring
        self._clock_watch = clock_watch
        self.stopping = False

    def out_of_service(self) -> ServiceUnavailable | None:
        """Return why no request may be answered; asks memory alone."""
        return self._clock_watch.outage()

    async def outage(self) -> ServiceUnavailable | None:
        """Return why a load balancer should choose another node; asks the database too."""
        if self.stopping:
            return ServiceUnavailable(Outage.STOPPING)
        found = self.out_of_service() or await self._database.outage()
        if found is not None:
            return found
        try:
            async with self._database.transaction() as transaction:
                await require_known_versions(transaction, self._keyring)
        except ServiceUnavailable as outage:
            return outage
        return None

    async def impairment(self) -> ServiceUnavailable | None:
        """Return what this node cannot do while it is ready: no other node could do it either."""
        return None if self._metrics is None else await self._metrics.outage()
