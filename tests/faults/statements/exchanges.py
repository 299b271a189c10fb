"""Let the n-th exchange with the database fail: a statement, a COPY or a commit.

An exchange is what the driver waits for: `AsyncConnection.wait`, through which all go, also those
that SQLAlchemy does not see. The server is made to fail there, so that the connection is left as
an error of the server leaves it. A fault is of the thread that asks for it and of what it starts:
what a service does besides is left alone.
"""

import asyncio
import contextlib
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

import psycopg
import pytest
from psycopg import generators

from mudra.demo.faults import fault_board

_FAIL: Final = "DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{}'; END $$"
_OF_THE_DRIVER: Final = {"_rollback_gen", "_enter_gen", "_exit_gen", "_sync_gen"}
"""What ends a transaction that has failed, and what only frames several statements."""

_IN_MEMORY: Final = {fault_board.__file__}
"""What a node reads to keep it in memory; without a database it goes on with what it has."""
_TASKS: Final = {"InProcess.handled", "BatchedIssueLog.stop"}
"""Of a request, and of what was written behind."""


@dataclass
class Fault:
    """The exchange of this number fails with an error; `at` says which that was."""

    number: int
    error: type[psycopg.Error] = psycopg.errors.IoError
    seen: int = 0
    at: str = ""

    @property
    def happened(self) -> bool:
        """Whether there were so many exchanges."""
        return bool(self.at)


_fault: ContextVar[Fault | None] = ContextVar("fault", default=None)


@contextlib.contextmanager
def faults_may_happen() -> Iterator[None]:
    """Let this process have faults meanwhile."""
    usual = psycopg.AsyncConnection.wait

    async def wait(self: Any, gen: Any, *options: Any, **more: Any) -> Any:
        fault = _fault.get()
        if fault is not None and _is_of_the_act(self, gen):
            fault.seen += 1
            if fault.seen == fault.number:
                fault.at = _what(gen)
                await _failed(self, gen, usual, fault.error)
                raise fault.error("a fault of a test")
        return await usual(self, gen, *options, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(psycopg.AsyncConnection, "wait", wait)
        yield


@contextlib.contextmanager
def fault_at(fault: Fault) -> Iterator[None]:
    """Let a fault happen in what this thread does meanwhile."""
    token = _fault.set(fault)
    try:
        yield
    finally:
        _fault.reset(token)


def _is_of_the_act(connection: Any, gen: Any) -> bool:
    """Whether the act fails with it: not for what nodes tell each other or keep in memory.

    Nodes tell each other on a connection without transactions, and try again on another one.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename in _IN_MEMORY:
            return False
        frame = frame.f_back
    task = asyncio.current_task()
    return (
        task is not None
        and getattr(task.get_coro(), "__qualname__", "") in _TASKS
        and not connection.autocommit
        and gen.__name__ not in _OF_THE_DRIVER
    )


async def _failed(
    connection: Any, gen: Any, usual: Callable[..., Awaitable[Any]], error: type[psycopg.Error]
) -> None:
    """Leave a connection as an error of the server at this exchange does."""
    if gen.__name__ == "_executemany_gen_pipeline":
        await usual(connection, gen)  # in a pipeline nothing else can be sent
        return
    gen.close()
    if gen.__name__ == "_commit_gen":
        await usual(connection, connection._rollback_gen())
    elif gen.__name__ == "copy_end":
        await usual(connection, generators.copy_end(connection.pgconn, b"a fault of a test"))
    elif gen.__name__ != "copy_to":
        with contextlib.suppress(error):
            await usual(connection, connection._exec_command(_FAIL.format(error.sqlstate).encode()))


def _what(gen: Any) -> str:
    frame = getattr(gen, "gi_frame", None)
    return f"{gen.__name__} {frame.f_locals.get('query', '') if frame else ''}"
