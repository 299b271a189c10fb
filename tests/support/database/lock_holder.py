"""Another session that holds a lock while requests wait for it, and changes something meanwhile."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

import psycopg
from tests.support.service import Service
from tests.support.until import PATIENCE_S, until

from mudra.storage.database.embedded.server import embedded_server

T = TypeVar("T")
_WAITING = """
WITH RECURSIVE waiting AS (
    SELECT pid FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))
    UNION SELECT a.pid FROM pg_stat_activity a JOIN waiting w ON w.pid = ANY(pg_blocking_pids(a.pid))
)
SELECT FROM waiting
"""


class LockHolder:
    """A session with a transaction, and threads for the requests that wait for its end."""

    def __init__(
        self, session: psycopg.Connection, watching: psycopg.Connection, threads: ThreadPoolExecutor
    ) -> None:
        self.session = session
        self._watching = watching
        self._threads = threads

    def waiting(self) -> int:
        """Returns how many sessions wait for this one, or for one that waits for it."""
        pid = self.session.info.backend_pid
        return self._watching.execute(_WAITING, [pid]).rowcount

    def begin(self, act: Callable[[], T], *, waiting: int = 1) -> Future[T]:
        """Begin a request; return when it is over, or so many wait for this session."""
        begun = self._threads.submit(act)
        until(lambda: begun.done() or self.waiting() == waiting)
        return begun

    def meanwhile(self, act: Callable[[], T], lock: str, then: str, row: str) -> T:
        """Act while this session has a lock, and does `then` to a row before its end."""
        self.session.execute(lock.encode())
        begun = self._threads.submit(act)
        until(lambda: self.waiting() == 1)
        self.session.execute(then.encode(), [row])
        self.session.commit()
        return begun.result(PATIENCE_S)


@contextlib.contextmanager
def lock_holder(service: Service) -> Iterator[LockHolder]:
    """Give a session of the service's database."""
    with (
        ThreadPoolExecutor(2) as threads,
        embedded_server(service.data_dir) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as watching,
        psycopg.connect(conninfo) as session,
    ):
        yield LockHolder(session, watching, threads)
