"""A part of the demonstration network that ends by itself ends all of it, loudly."""

import asyncio

import pytest
from structlog.testing import capture_logs
from tests.support.until import PATIENCE_S

from mudra.demo.live import _warn, until_stopped


async def _agent(stop: asyncio.Event) -> int:
    await stop.wait()
    return 0


async def _feeder(fault: Exception | None) -> None:
    if fault is not None:
        raise fault
    await asyncio.Event().wait()


@pytest.mark.parametrize("broken", [0, 1])
def test_a_feeder_that_dies_ends_agents_and_feeders_and_is_named(broken: int) -> None:
    async def story() -> None:
        stop, fault = asyncio.Event(), ValueError("the traffic broke")
        faults = [fault if place == broken else None for place in range(2)]
        feeders = [asyncio.create_task(_feeder(one)) for one in faults]
        agents = [asyncio.create_task(_agent(stop))]

        (ended,) = await until_stopped(stop, feeders, agents)

        assert ended.exception() is fault
        assert all(task.done() for task in (*feeders, *agents))

    asyncio.run(asyncio.wait_for(story(), PATIENCE_S))


def test_when_stopped_nothing_has_ended_by_itself() -> None:
    async def story() -> None:
        stop = asyncio.Event()
        feeders = [asyncio.create_task(_feeder(None))]
        agents = [asyncio.create_task(_agent(stop))]
        stop.set()

        assert await until_stopped(stop, feeders, agents) == []
        assert all(task.done() for task in (*feeders, *agents))

    asyncio.run(asyncio.wait_for(story(), PATIENCE_S))


def test_a_warning_of_an_agent_is_one_line_and_ends_nothing() -> None:
    with capture_logs() as logged:
        _warn("SAARTHI-AA", "the operator answered 503; the agent tries again")

    assert [(one["aa_id"], one["said"]) for one in logged] == [
        ("SAARTHI-AA", "the operator answered 503; the agent tries again")
    ]
