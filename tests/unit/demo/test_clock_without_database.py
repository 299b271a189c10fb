"""The sandbox's clock when messages were lost while the database is away."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from structlog.testing import capture_logs
from tests.support.until import PATIENCE_S

from mudra.demo.time_machine import PostgresTimeMachine
from mudra.shared.unavailable import DatabaseUnavailable


class Away:
    """A database that is away for the first questions, and then knows the offset."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.found = asyncio.Event()

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Any]:
        self.left -= 1
        if self.left >= 0:
            raise DatabaseUnavailable
        yield SimpleNamespace(connection=self)

    async def scalar(self, _: object) -> str:
        self.found.set()
        return "60000"


class Messages:
    tell: Callable[[str], None]

    def on_change(self, tell: Callable[[str], None]) -> None:
        self.tell = tell


def test_it_is_read_once_the_database_answers_and_no_exception_is_left() -> None:
    left: list[dict[str, Any]] = []

    async def story() -> timedelta:
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: left.append(fault))
        clock = SimpleNamespace(offset=timedelta())
        database, messages = Away(0), Messages()
        machine: Any = PostgresTimeMachine
        await machine(database, messages, clock, pause_s=0).load()
        clock.offset, database.left = timedelta(), 2
        database.found.clear()
        messages.tell("*")
        await asyncio.wait_for(database.found.wait(), PATIENCE_S)
        await asyncio.sleep(0)
        return timedelta() + clock.offset

    with capture_logs() as logged:
        offset = asyncio.run(story())

    assert offset == timedelta(minutes=1)
    assert not left
    assert [(one["event"], one["log_level"]) for one in logged] == [
        ("the sandbox's clock waits for the database", "warning")
    ] * 2
    assert not [one for one in logged if "exc_info" in one]
