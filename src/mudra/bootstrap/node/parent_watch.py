"""The end of a child of the supervisor when the supervisor is gone, or is stopped."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable

import structlog

from mudra.bootstrap.node.heartbeat import STOPPED, STOPPED_FOR, state_of_process
from mudra.bootstrap.node.supervisor import STOP_S

_log = structlog.get_logger()


class SupervisorWatch:
    """Lets a supervisor go on that the kernel has stopped: no one else looks after the others.

    Meanwhile a worker that dies leaves a socket that takes connections and answers none.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._stopped = 0

    def check(self) -> None:
        """Look at it; to be called once a second."""
        self._stopped = self._stopped + 1 if state_of_process(self._pid) == STOPPED else 0
        if self._stopped >= STOPPED_FOR:
            self._stopped = 0
            _log.error("the supervisor is stopped, letting it go on", pid=self._pid)
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGCONT)


def on_parent_exit(parent_pipe: int, then: Callable[[], None], *, within_s: float = STOP_S) -> None:
    """Call `then` once, in the running loop, when the pipe that the supervisor holds has closed.

    A process that has not ended `within_s` seconds later is ended by SIGALRM, as the supervisor
    would have done: what is left of a killed node keeps the data directory from the next one.
    """
    loop = asyncio.get_running_loop()

    def cut() -> None:
        # A pipe at its end stays readable: left in the loop, it would keep it busy for nothing.
        loop.remove_reader(parent_pipe)
        signal.setitimer(signal.ITIMER_REAL, within_s)
        then()

    loop.add_reader(parent_pipe, cut)
