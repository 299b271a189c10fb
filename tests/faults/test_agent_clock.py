"""An agent whose clock is wrong, jumps or is set: no window is lost, and readiness stays true."""

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, START, WINDOW, MovedClock

from mudra.agent.counting.payload import Payload
from mudra.agent.spool.dead_letter import dead_letters
from mudra.metrics.payload.catalogue import Tag


@pytest.mark.parametrize("days", [-8, 8, 400])
def test_a_clock_that_jumps_for_a_moment_costs_no_window(tmp_path: Path, days: int) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(12, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.windows(agent, clock, 3)

        clock.jump(days * 24 * 3600 * SECOND)
        clock.pass_time(61 * SECOND)
        await agent.tick()
        await agent.push_once()
        clock.jump(-days * 24 * 3600 * SECOND)
        operator.down = False
        clock.pass_time(310 * SECOND)
        await agents.drain(agent, clock, at_most=5_000)

        windows = {window for _, window in operator.stored}
        assert windows >= {f"2026-04-01T10:{minute}:00Z" for minute in ("00", "10", "20")}
        assert agent.recorder.spool.fact("dropped_full") is None
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("days", [8, 400])
def test_a_window_closed_under_a_clock_that_was_ahead_costs_no_other(
    tmp_path: Path, days: int
) -> None:
    async def story() -> None:
        ahead = days * 24 * 3600 * SECOND
        clock, operator = MovedClock(), HostileOperator(15)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW + 10 * SECOND)
        clock.jump(ahead)
        operator.now = lambda: clock.datetime() - timedelta(milliseconds=ahead)
        await agent.tick()
        await agents.push_for(agent, clock, 20)
        await agents.windows(agent, clock, 1)
        await agents.push_for(agent, clock, 90)
        assert agent.recorder.spool.fact("last_window") >= START + ahead

        clock.jump(-ahead)
        operator.now = clock.datetime
        await agents.windows(agent, clock, 2)
        await agents.push_for(agent, clock, 90)
        windows = {window for _, window in operator.stored}
        assert windows == {f"2026-04-01T10:{minute}:00Z" for minute in ("00", "20", "30")}

        await agent.aclose()
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(MovedClock(START + SECOND, clock.mono)))
        await agents.windows(agent, clock, 1)
        await agents.push_for(agent, clock, 90)
        assert agent.recorder.counter.metrics.late == 1, "for a window that was delivered"
        assert len(operator.stored) == 8
        assert agent.recorder.spool.fact("dropped_full") is None
        await agent.aclose()

    asyncio.run(story())


def test_the_window_that_a_jump_of_days_cuts_is_delivered_once_it_has_ended(tmp_path: Path) -> None:
    async def story() -> None:
        ahead = 8 * 24 * 3600 * SECOND + 240 * SECOND
        clock, operator = MovedClock(), HostileOperator(15)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW // 2)
        clock.jump(ahead)
        operator.now = lambda: clock.datetime() - timedelta(milliseconds=ahead)
        for _ in range(12):  # minutes, in which a window of the wrong time closes
            await agent.tick()
            await agents.push_for(agent, clock, 60)

        assert agent.recorder.spool.fact("last_window") >= START + 8 * 24 * 3600 * SECOND
        assert operator.stored.keys() == {(tag, "2026-04-01T10:00:00Z") for tag in Tag}
        assert agent.recorder.spool.fact("dropped_full") is None
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("jump", [-2 * 24 * 3600, -3600, 3600, 400 * 24 * 3600])
def test_readiness_counts_the_time_that_passed_and_not_that_of_a_clock_that_is_set(
    tmp_path: Path, jump: int
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(10)
        agent = agents.agent(tmp_path, clock, operator)
        clock.jump(jump * SECOND)
        assert agent.health().ready, "nothing is late right after the start"
        clock.jump(-jump * SECOND)
        await agents.windows(agent, clock, 1)
        await agents.drain(agent, clock, at_most=2_000)

        operator.down = True
        clock.jump(jump * SECOND)
        assert agent.health().ready
        clock.pass_time(3 * WINDOW)
        assert agent.health().ready
        clock.pass_time(SECOND)
        red = agent.health()

        assert red.reasons[0] == "nothing has been delivered for 30 minutes"
        assert red.reasons[1] == "no event has come from the AA's systems for 41 minutes"
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize(("ahead", "early"), [(150, 1), (1_800, 3)])
def test_a_clock_that_is_ahead_by_minutes_costs_no_window(
    tmp_path: Path, ahead: int, early: int
) -> None:
    """Of six windows so many have not ended by the operator's clock when they are pushed."""

    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(16)
        agent = agents.agent(tmp_path, clock, operator)
        operator.now = lambda: clock.datetime() - timedelta(seconds=ahead)
        warned: list[str] = []
        agent.pusher.warn = warned.append
        await agents.windows(agent, clock, 6)
        clock.pass_time(40 * SECOND)
        await agents.push_for(agent, clock, 20)
        assert len(operator.stored) == 2 * (6 - early), "the others do not wait for them"
        await agents.push_for(agent, clock, 60 + ahead)

        windows = {window for _, window in operator.stored}
        assert windows == {f"2026-04-01T10:{minute}0:00Z" for minute in range(6)}
        assert len(operator.refused) == 2 * early, "each is tried again once"
        assert not dead_letters(tmp_path / "spool")
        assert agent.recorder.spool.queued() == []
        assert any("the clock of this machine is ahead" in text for text in warned)
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("ahead", [3 * 3_600, 400 * 24 * 3_600])
def test_a_window_far_in_the_future_becomes_a_dead_letter(tmp_path: Path, ahead: int) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(17)
        agent = agents.agent(tmp_path, clock, operator)
        operator.now = lambda: clock.datetime() - timedelta(seconds=ahead)

        await agents.windows(agent, clock, 1)
        await agents.push_for(agent, clock, 90)

        assert len(dead_letters(tmp_path / "spool")) == 2
        assert agent.recorder.spool.queued() == []
        await agent.aclose()

    asyncio.run(story())


def test_a_wrong_payload_under_a_clock_that_is_ahead_becomes_a_dead_letter(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(18)
        agent = agents.agent(tmp_path, clock, operator)
        operator.now = lambda: clock.datetime() - timedelta(seconds=150)
        agent.recorder.spool.requeue(Payload(START, Tag.REQUESTS, "t", b'{"no": "payload"}'))

        clock.pass_time(WINDOW + 100 * SECOND)
        await agents.push_for(agent, clock, 200)

        assert len(operator.refused) == 2
        assert len(dead_letters(tmp_path / "spool")) == 1
        await agent.aclose()

    asyncio.run(story())
