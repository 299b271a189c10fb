"""Where the metrics are: in the first database, or in one of their own (decision 0119)."""

import contextlib
from collections.abc import AsyncIterator, Collection
from typing import Final, NamedTuple

from mudra.storage.database.database import Database, Transaction
from mudra.storage.database.replica import ReplicaReads
from mudra.storage.metrics.apart.distribution import DISTRIBUTED, REFERENCE
from mudra.storage.metrics.apart.late_transaction import IDLE_S, Opening, late_transaction

MOVED: Final[Collection[str]] = frozenset({*DISTRIBUTED, *REFERENCE})
"""The tables of the second database, where there is one."""


class Both(NamedTuple):
    """The transactions of one unit of work; one and the same unless the metrics are apart."""

    first: Transaction
    metrics: Transaction

    @property
    def are_apart(self) -> bool:
        """Return whether two commits end them."""
        return self.first is not self.metrics


class MetricsDatabase:
    """Opens transactions that reach the metrics; `own` is the second database, if there is one."""

    def __init__(
        self, first: Database, own: Database | None, replica: ReplicaReads | None = None
    ) -> None:
        """`replica` reads on a replica of the second database."""
        self.first = first
        self.own = own
        self.replica = replica

    @contextlib.asynccontextmanager
    async def both(
        self, open_first: Opening, *, within_s: float, reads: bool = False
    ) -> AsyncIterator[Both]:
        """Open both; the first database commits first, the metrics after it or not at all.

        With `reads` nothing is changed, and a replica may serve the metrics.

        So what only the first has (an incident with its emails) is there when the metrics note
        that it was found, and is found again, and already there, when that note was lost. What
        the metrics decide is theirs alone, with what they hand over.
        """
        if self.own is None:
            async with open_first(within_s=within_s) as transaction:
                if within_s > IDLE_S:
                    await transaction.stay_open(within_s)
                yield Both(transaction, transaction)
            return
        replica = self.replica if reads else None
        opening = replica.transaction if replica else self.own.transaction
        async with (
            late_transaction(self.own, opening, within_s) as metrics,
            open_first(within_s=within_s) as first,
        ):
            if within_s > IDLE_S:
                await first.stay_open(within_s)
            yield Both(first, metrics)

    def of_table(self, name: str) -> Database:
        """Return the database that has the rows of a table."""
        return self.own if self.own is not None and name in MOVED else self.first

    async def close(self) -> None:
        """Close the connections to the second database."""
        if self.replica is not None:
            await self.replica.close()
        if self.own is not None:
            await self.own.close()
