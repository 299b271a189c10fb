"""A registered token that the operator refuses: the secret takes its place, or it gets a new try."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, WINDOW, MovedClock

from mudra.agent.host.assembly import Agent

REFUSED_PAUSE = 300_000

REGISTERED = {"id": {"value": "AA-1"}, "registered": True}
OLD = "a-token-that-has-ended"


async def _registered(agent: Agent, **credentials: str) -> None:
    async with agents.asking(agent) as http:
        body = {"entity_id": "AA-1", **credentials}
        answer = await http.post("/sna/v1/entity/register", json=body)
        assert answer.status_code == 200, answer.text


async def _window(agent: Agent, clock: MovedClock) -> None:
    """Close a window, and push for a few seconds."""
    await agent.tick()
    clock.pass_time(WINDOW + 30 * SECOND)
    await agent.tick()
    clock.pass_time(60 * SECOND)
    for _ in range(20):
        await agent.push_once()
        clock.pass_time(SECOND // 2)


def _run(story: Callable[[MovedClock, HostileOperator], Coroutine[None, None, None]]) -> None:
    asyncio.run(story(MovedClock(), HostileOperator(1)))


@pytest.mark.parametrize("restarted", [False, True])
def test_the_secret_registered_with_a_token_takes_over_when_it_is_refused(
    tmp_path: Path, *, restarted: bool
) -> None:
    async def story(clock: MovedClock, operator: HostileOperator) -> None:
        agent = agents.agent(tmp_path, clock, operator, credentials=REGISTERED)
        operator.good.add(OLD)
        await _registered(agent, secret=operator.secret, token=OLD)
        await _window(agent, clock)
        assert (len(operator.stored), operator.tokens) == (2, [])

        operator.good.clear()
        if restarted:
            await agent.aclose()
            agent = agents.agent(tmp_path, clock, operator, credentials=REGISTERED)
        await _window(agent, clock)

        assert (len(operator.stored), len(operator.tokens)) == (4, 1)
        assert agent.pusher.metrics.failed == 0
        async with agents.asking(agent) as http:
            shown = await http.get("/sna/v1/entity/token/generate")
        assert shown.json()["accessToken"] == "token-1"
        await agent.aclose()

    _run(story)


def test_a_token_alone_that_was_refused_is_tried_again_after_a_pause(tmp_path: Path) -> None:
    async def story(clock: MovedClock, operator: HostileOperator) -> None:
        agent = agents.agent(tmp_path, clock, operator, credentials=REGISTERED)
        await _registered(agent, token=OLD)
        await _window(agent, clock)
        assert operator.stored == {}
        assert "has ended or was refused" in agent.pusher.metrics.last_error

        operator.good.add(OLD)
        took = await agents.drain(agent, clock, at_most=2_000)
        assert took <= 3 * REFUSED_PAUSE
        assert len(operator.stored) == 2
        await agent.aclose()

    _run(story)


def test_a_refused_token_that_is_registered_again_is_used_at_once(tmp_path: Path) -> None:
    async def story(clock: MovedClock, operator: HostileOperator) -> None:
        agent = agents.agent(tmp_path, clock, operator, credentials=REGISTERED)
        await _registered(agent, token=OLD)
        await _window(agent, clock)

        operator.good.add(OLD)
        await _registered(agent, token=OLD)
        await agents.drain(agent, clock, at_most=10)

        assert len(operator.stored) == 2
        await agent.aclose()

    _run(story)
