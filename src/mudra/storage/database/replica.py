"""Reads on a replica that never show less than the primary had when they began (decision 0119).

Before a read the position of the primary's log is asked for; the replica may be used once it has
replayed that far. A replica that does not within the bound, or is no replica, or does not answer,
is left alone for some seconds, and the read goes to the primary. Then it is tried by a read that
does not wait for it: a frozen one delays the first that meets it, and no other.
"""

import asyncio
import contextlib
import enum
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

import sqlalchemy as sa
import structlog

from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.database.database import Database
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.storage.database.transaction import Transaction

REST_S: Final = 5.0
"""So long the primary serves alone after the replica failed or was late."""
_ANSWER_S: Final = 0.3
"""So much longer than the bound a read waits for a replica that says nothing at all."""
_POLL_S: Final = 0.005
IDENTITY: Final = (
    "(SELECT system_identifier::text FROM pg_control_system()) || '/' ||"
    " (SELECT oid::text FROM pg_database WHERE datname = current_database())"
)
"""A database, in SQL: a replica of it has the same."""
_POSITION: Final = sa.text(f"SELECT pg_current_wal_flush_lsn()::text, {IDENTITY}")
_BEHIND: Final = sa.text(
    f"SELECT CASE WHEN pg_is_in_recovery() AND {IDENTITY} = :identity"
    " THEN (cast(:position AS pg_lsn) - pg_last_wal_replay_lsn())::bigint END"
)
"""None where it is no replica of this database: another's position would mean nothing."""
_log = structlog.get_logger()


class Place(enum.StrEnum):
    """Where a read went, and why not to the replica."""

    REPLICA = "replica"
    LATE = "primary: replica late"
    GONE = "primary: replica out of reach"
    RESTING = "primary: replica left alone"


@dataclass(slots=True)
class ReplicaReads:
    """Transactions for reads alone; `lag_s` is how long a read waits for the replica at most."""

    primary: Database
    replica: Database | None
    lag_s: float
    observe: Callable[[Place, int], None] = lambda _, __: None
    """Is given each place, and the bytes that the replica lacked at first."""
    _resting_until: float = 0.0
    _has_failed: bool = False
    """Since it was used last: no read waits for it until it has followed once."""
    _ending: set[asyncio.Task[None]] = field(default_factory=set)
    """End the transactions for which no read waits any more."""

    @property
    def is_apart(self) -> bool:
        """Return whether there is a replica at all."""
        return self.replica is not None

    @contextlib.asynccontextmanager
    async def transaction(self, *, within_s: float = TRANSACTION_S) -> AsyncIterator[Transaction]:
        """Open a transaction on the replica if it has all that was committed before this call.

        Raises DatabaseUnavailable as the primary does, and when the replica fails meanwhile.
        """
        found = None
        try:
            async with contextlib.AsyncExitStack() as stack:
                found = await self._on_replica(stack, within_s)
                if found is None:
                    opened = self.primary.transaction(within_s=within_s)
                    yield await stack.enter_async_context(opened)
                else:
                    yield found
        except DatabaseUnavailable:
            if found is not None:
                self._rest()
            raise

    async def _on_replica(
        self, stack: contextlib.AsyncExitStack, within_s: float
    ) -> Transaction | None:
        if self.replica is None:
            return None
        if monotonic() < self._resting_until:
            self.observe(Place.RESTING, 0)
            return None
        async with self.primary.transaction() as transaction:
            found = (await transaction.connection.execute(_POSITION)).one()
            since = {"position": str(found[0]), "identity": str(found[1])}
        held = contextlib.AsyncExitStack()
        opening = asyncio.create_task(self._open(held, since, within_s), name="replica")
        wait_s = 0 if self._has_failed else self.lag_s + _ANSWER_S
        try:
            done, _ = await asyncio.wait({opening}, timeout=wait_s)
        except asyncio.CancelledError:
            self._leave(opening, held)
            raise
        if done:
            stack.push_async_exit(held.pop_all().__aexit__)
            return opening.result()
        self.observe(Place.RESTING if self._has_failed else Place.GONE, 0)
        self._rest()
        self._leave(opening, held)
        return None

    async def _open(
        self, held: contextlib.AsyncExitStack, since: dict[str, str], within_s: float
    ) -> Transaction | None:
        """Put a transaction into `held`, and return it, if the replica has replayed so far."""
        assert self.replica is not None
        try:
            async with contextlib.AsyncExitStack() as trial:
                opened = self.replica.transaction(within_s=within_s)
                reading = await trial.enter_async_context(opened)
                if await self._has_replayed(reading, since):
                    held.push_async_exit(trial.pop_all().__aexit__)
                    return reading
        except DatabaseUnavailable as error:
            self._rest()
            self.observe(Place.GONE, 0)
            _log.warning("the replica cannot be used: the primary serves", cause=error.cause)
        return None

    def _leave(
        self, opening: asyncio.Task[Transaction | None], held: contextlib.AsyncExitStack
    ) -> None:
        """End what is being opened once it is there, and wait for it nowhere.

        To cancel it would ask the server that does not answer; its own limits end it.
        """

        async def end() -> None:
            await opening
            await held.aclose()

        ending = asyncio.create_task(end(), name="replica-end")
        self._ending.add(ending)
        ending.add_done_callback(self._ending.discard)

    async def _has_replayed(self, transaction: Transaction, since: dict[str, str]) -> bool:
        """Wait for the replica as long as the bound says; never for one of another database."""
        until, lacked = monotonic() + self.lag_s, None
        while True:
            behind = await transaction.connection.scalar(_BEHIND, since)
            lacked = behind if lacked is None else lacked
            if behind is not None and behind <= 0:
                self.observe(Place.REPLICA, max(0, lacked or 0))
                self._has_failed, self._resting_until = False, 0.0
                return True
            if behind is None or monotonic() >= until:
                self._rest()
                self.observe(Place.LATE, lacked or 0)
                _log.warning("the replica is late: the primary serves", bytes=behind)
                return False
            await asyncio.sleep(_POLL_S)

    def _rest(self) -> None:
        self._has_failed = True
        self._resting_until = monotonic() + REST_S

    async def close(self) -> None:
        """Close the connections to the replica."""
        if self._ending:
            await asyncio.wait(self._ending)
        if self.replica is not None:
            await self.replica.close()
