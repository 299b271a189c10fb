"""Runs a pure function in another process, so that a worker answers others meanwhile.

Threads do not help: decoders and big numbers do not let go of the interpreter. The process is
started when it is first needed; it has a lower priority, and no connections and no secrets: see
`forget_settings`.
"""

import asyncio
import os
import resource
from collections.abc import Callable
from typing import Final, TypeVar

import structlog
from anyio import BrokenWorkerProcess, CapacityLimiter, to_process

from mudra.shared.child_environment import without_settings
from mudra.shared.waiting.fair_queue import Queue

TURN_WAIT_S: Final = 60.0
ANSWER_S: Final = 15.0
"""Many times what the worst input takes; a process that takes longer is replaced."""
NICE: Final = 5
MEMORY_BYTES: Final = 2 * 1024**3

T = TypeVar("T")
_log = structlog.get_logger()


class NoAnswerApart(Exception):
    """The process was lost, or took too long, or too many wait for it."""


def forget_settings() -> None:
    """Drop Mudra's settings from the environment of a worker, which has read them.

    The process apart inherits it: anyio starts that process, and takes no environment for it.
    """
    for name in os.environ.keys() - without_settings(os.environ).keys():
        del os.environ[name]


class ProcessApart:
    """One process, shared in rotation by those who need it."""

    def __init__(self) -> None:
        self._turns = Queue(1, TURN_WAIT_S)
        self._limiter: CapacityLimiter | None = None

    async def run(self, key: str, call: Callable[[], T]) -> T:
        """Return what `call` does, a partial of a function of a module.

        Raises:
            NoAnswerApart: try again later.
        """
        async with self._turns.turn(key) as admitted:
            if not admitted:
                raise NoAnswerApart
            if self._limiter is None:
                self._limiter = CapacityLimiter(1)  # belongs to the running loop
            try:
                async with asyncio.timeout(ANSWER_S):
                    return await to_process.run_sync(
                        _in_process, call, cancellable=True, limiter=self._limiter
                    )
            except (BrokenWorkerProcess, TimeoutError, MemoryError) as error:
                _log.exception("a check in another process failed", key=key)
                raise NoAnswerApart from error


def _in_process(call: Callable[[], T]) -> T:
    # Requests go first; and this process ends rather than take all memory of the machine.
    if os.nice(0) < NICE:
        os.nice(NICE)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    return call()
