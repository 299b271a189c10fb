"""A lock that a forked process has free, whatever thread of its parent held it."""

import os
import threading
import weakref
from types import TracebackType
from typing import Final, Self

_locks: Final["weakref.WeakSet[ForkLock]"] = weakref.WeakSet()


class ForkLock:
    """threading.Lock, but free in the child of a fork: the thread that held it is not there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(self)

    def acquire(self, *, blocking: bool = True) -> bool:
        """Take the lock; without `blocking` return False while another thread has it."""
        return self._lock.acquire(blocking=blocking)

    def release(self) -> None:
        """Free the lock; raises RuntimeError when it is free."""
        self._lock.release()

    def renew(self) -> None:
        """Free the lock in a process that was just forked."""
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        """Take the lock."""
        self._lock.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Free the lock."""
        self._lock.release()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.renew()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_renew_all)
