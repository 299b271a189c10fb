"""What is collected is written soon; while nothing is, the task sleeps."""

import asyncio

import pytest
from tests.support.until import PATIENCE_S

from mudra.storage.caching.write_behind import WriteBehind


class Store:
    """Counts the calls; the first `failing` of them fail."""

    def __init__(self, failing: int = 0) -> None:
        self.calls = 0
        self._failing = failing
        self.called = asyncio.Event()

    async def write(self) -> None:
        self.calls += 1
        if self.calls <= self._failing:
            raise ConnectionError
        self.called.set()


async def timers_at_rest() -> int:
    """Let every task run to where it waits, and return how many timers the loop has."""
    for _ in range(5):
        await asyncio.sleep(0)
    return len(asyncio.get_running_loop()._scheduled)  # type: ignore[attr-defined]


def test_while_nothing_is_due_no_timer_runs() -> None:
    async def timers() -> tuple[int, int]:
        behind = WriteBehind("test", 0.5, Store().write)
        behind.start()
        asleep = await timers_at_rest()
        behind.due()
        woken = await timers_at_rest()
        await behind.stop()
        return asleep, woken

    assert asyncio.run(timers()) == (0, 1)


@pytest.mark.parametrize("failing", [0, 1])
def test_what_is_due_is_written_once_and_tried_again_after_an_error(failing: int) -> None:
    async def calls() -> int:
        store = Store(failing)
        behind = WriteBehind("test", 0.01, store.write)
        behind.start()
        behind.due()
        await asyncio.wait_for(store.called.wait(), PATIENCE_S)
        return store.calls

    assert asyncio.run(calls()) == failing + 1


def test_a_stop_writes_what_is_left_without_waiting() -> None:
    async def calls() -> int:
        store = Store()
        behind = WriteBehind("test", 3600, store.write)
        behind.start()
        behind.due()
        await asyncio.wait_for(behind.stop(), PATIENCE_S)
        return store.calls

    assert asyncio.run(calls()) > 0
