"""An agent whose clock is wrong, jumps or is set: no window is lost, and readiness stays true."""

import asyncio
from pathlib import Path

import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, MovedClock


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
