"""A hold of the loop is seen while requests arrive, and no one is woken otherwise."""

import asyncio
from collections.abc import Callable

import pytest

from mudra.bootstrap.observability import loop_watch
from mudra.bootstrap.observability.loop_watch import LoopWatch


class Machine:
    """A clock that moves with its work."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def work(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Every hold that was counted."""
    holds: list[float] = []

    class Figures:
        @staticmethod
        def observe_all(values: list[float]) -> None:
            holds.extend(values)

    monkeypatch.setattr(loop_watch, "LOOP_HOLDS", Figures)
    return holds


def timers(act: Callable[[LoopWatch, Machine], None]) -> int:
    """Let a watch see something; returns how many timers wait when it has rested."""

    async def watched() -> int:
        machine = Machine()
        watch = LoopWatch(machine, machine, lambda: 0.0)
        act(watch, machine)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + 10
        while watch._is_running and loop.time() < deadline:  # noqa: ASYNC110  # no event shows it
            await asyncio.sleep(0)
        watch.flush()
        return len(loop._scheduled)  # type: ignore[attr-defined]

    return asyncio.run(watched())


def test_without_an_arrival_nothing_is_counted_and_no_timer_runs(counted: list[float]) -> None:
    def rest(_watch: LoopWatch, _machine: Machine) -> None: ...

    assert timers(rest) == 0
    assert counted == []


def test_what_holds_the_loop_after_an_arrival_is_seen_then_the_watch_ends(
    counted: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop_watch, "INTERVAL_S", 0.001)
    monkeypatch.setattr(loop_watch, "LOOKS_AFTER", 3)

    def hold(watch: LoopWatch, machine: Machine) -> None:
        watch.arrived()
        machine.work(0.3)

    assert timers(hold) == 0
    assert counted[0] == pytest.approx(0.3)
    assert len(counted) == 3
