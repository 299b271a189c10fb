"""A lock of the database that another session holds until someone has waited too long for it."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import sqlalchemy as sa
from tests.support.until import until

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.database.database import LOCK_TIMEOUT_MS
from mudra.storage.database.embedded.server import embedded_server

# Of requests: a job may come to wait for the same lock.
_WAITING = sa.text(
    "SELECT count(*) FROM pg_stat_activity"
    " WHERE wait_event_type = 'Lock' AND application_name LIKE 'mudra worker-%'"
)
_LATE = (
    "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
    f" AND clock_timestamp() - waitstart > interval '{LOCK_TIMEOUT_MS + 200} ms'"
)


async def someone_waits(dependencies: Dependencies) -> bool:
    """Returns whether a request waits for a lock of another session."""
    return await count_waiting(dependencies) > 0


async def count_waiting(dependencies: Dependencies) -> int:
    """Returns how many requests wait for a lock of another session."""
    async with dependencies.database.transaction() as transaction:
        return int(await transaction.connection.scalar(_WAITING) or 0)


@contextlib.contextmanager
def held_until_waited_for(data_dir: Path, lock: str) -> Iterator[None]:
    """Holds `pg_advisory_xact_lock(lock)` until a session has waited longer than a request may."""
    with embedded_server(data_dir) as conninfo, psycopg.connect(conninfo) as holder:
        holder.execute(f"SELECT pg_advisory_xact_lock({lock})")  # type: ignore[arg-type]
        ends = threading.Thread(target=_end_once_late, args=(conninfo, holder))
        ends.start()
        yield
        ends.join()


def _end_once_late(conninfo: str, holder: psycopg.Connection) -> None:
    with psycopg.connect(conninfo, autocommit=True) as watching:
        until(lambda: watching.execute(_LATE).rowcount, every_s=0.1)
    holder.rollback()
