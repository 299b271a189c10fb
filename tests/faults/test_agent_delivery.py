"""Quality G2 to G5, G9, G10: delivery to an operator that misbehaves, in moved time."""

import asyncio
import resource
import statistics
from pathlib import Path

import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, START, WINDOW, MovedClock

from mudra.agent.delivery.backoff import push_offset
from mudra.agent.spool.dead_letter import dead_letters
from mudra.client import SecretRefused
from mudra.metrics.payload.catalogue import Tag


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_hostile_operator_gets_every_window_and_none_twice(tmp_path: Path, seed: int) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(seed, rate=0.3)
        agent = agents.agent(tmp_path, clock, operator)

        await agents.windows(agent, clock, 30)
        await agents.drain(agent, clock, at_most=20_000)

        assert len(operator.stored) == 60, operator.describe()
        assert not operator.replaced, operator.describe()
        assert not dead_letters(tmp_path / "spool"), operator.describe()
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.slow
def test_72_hours_of_outage_lose_nothing_and_the_backlog_goes_gently(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(7, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(432):
            await agents.record(
                agent.recorder, agents.call(clock), agents.call(clock, "alnot", inbound=True)
            )
            for _ in range(4):
                clock.pass_time(WINDOW // 4)
                await agent.push_once()
            await agent.tick()
        clock.pass_time(31 * SECOND)
        await agent.tick()
        assert agent.recorder.spool.backlog().payloads == 864
        assert not agent.health().ready

        operator.down = False
        clock.pass_time(310 * SECOND)
        took = await agents.drain(agent, clock, at_most=20_000)

        assert len(operator.stored) == 864, operator.describe()
        assert took < 30 * 60 * SECOND
        gaps = [
            later - previous
            for previous, later in zip(operator.pushes, operator.pushes[2:], strict=False)
        ]
        assert min(gap.total_seconds() for gap in gaps) >= 0.99
        assert operator.most_in_flight <= 2
        live, *older = operator.order
        assert live == max(operator.order)
        rest = [window for window in older if window != live]
        assert rest == sorted(rest)
        assert agent.health().ready
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown < 100 << 10, "KiB: the whole agent has 100 MiB"
        await agent.aclose()

    asyncio.run(story())


def test_readiness_is_red_after_three_windows_without_a_delivery_and_says_why(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(10)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.windows(agent, clock, 1)
        await agents.drain(agent, clock, at_most=2_000)
        delivered = agent.pusher.metrics.last_delivery
        assert delivered is not None

        clock.pass_time(delivered + 3 * WINDOW - clock.wall())
        assert agent.health().ready
        clock.pass_time(SECOND)
        red = agent.health()

        assert not red.ready
        assert red.reasons[0] == "nothing has been delivered for 30 minutes"
        assert red.reasons[1] == "no event has come from the AA's systems for 41 minutes"
        await agent.aclose()

    asyncio.run(story())


def test_an_outage_survives_restarts_and_a_rotated_secret(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(8)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.windows(agent, clock, 1)
        await agents.drain(agent, clock, at_most=2_000)

        operator.secret = "another"
        operator.good.clear()
        await agents.windows(agent, clock, 1)
        for _ in range(20):
            await agent.push_once()
            clock.pass_time(10 * SECOND)
        assert len(operator.stored) == 2
        assert "refused this entity and secret" in agent.pusher.metrics.last_error
        assert isinstance(agent.tokens.error, SecretRefused)
        await agent.aclose()
        (tmp_path / "secret").write_text("another")
        agent = agents.agent(tmp_path, clock, operator)
        await agents.drain(agent, clock, at_most=5_000)

        assert len(operator.stored) == 4, operator.describe()
        await agent.aclose()

    asyncio.run(story())


def test_a_rotation_needs_no_restart_and_its_warning_is_shown(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(9, token_life=3_600)
        agent = agents.agent(tmp_path, clock, operator)
        operator.secret, operator.old_secret = "new", "s3cret"
        for hour in range(6):
            if hour == 3:
                (tmp_path / "secret").write_text("new")
                operator.old_secret = None
            await agents.windows(agent, clock, 6)
            await agents.drain(agent, clock, at_most=2_000)
            warned = agent.tokens.warning
            assert bool(warned) == (hour < 3)

        assert len(operator.stored) == 72
        lives = [
            (later - previous).total_seconds()
            for previous, later in zip(operator.tokens, operator.tokens[1:], strict=False)
        ]
        assert all(life >= 0.74 * 3_600 for life in lives)
        assert agent.pusher.metrics.failed == 0
        await agent.aclose()

    asyncio.run(story())


def test_a_payload_refused_for_good_is_stored_with_its_answer_and_stops_no_other(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(10, refuse_windows={"2026-04-01T10:10:00Z"})
        agent = agents.agent(tmp_path, clock, operator)

        await agents.windows(agent, clock, 4)
        await agents.drain(agent, clock, at_most=2_000)

        stored = dead_letters(tmp_path / "spool")
        assert len(stored) == 2
        assert b'"status":422' in stored[0].read_bytes()
        assert b"InvalidRequest" in stored[0].read_bytes()
        assert len(operator.stored) == 6
        assert agent.recorder.spool.fact("dead_letters") == 2
        await agent.aclose()

    asyncio.run(story())


def test_a_full_spool_drops_the_oldest_first_and_informs_the_operator(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(11, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.windows(agent, clock, 10)
        size = agent.recorder.spool.backlog().bytes
        agent.pusher.max_bytes = size // 2

        operator.down = False
        await agents.drain(agent, clock, at_most=5_000)

        kept = sorted({window for _, window in operator.stored})
        assert 3 <= len(kept) <= 5
        assert kept[-1] == "2026-04-01T11:30:00Z"
        assert kept == sorted(kept)[-len(kept) :]
        assert agent.recorder.spool.fact("dropped_full") == 20 - len(operator.stored)
        assert any("dropped-full=" in note for note in operator.notes)
        await agent.aclose()

    asyncio.run(story())


def test_windows_of_more_than_seven_days_ago_go(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(12, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.windows(agent, clock, 3)
        clock.pass_time(7 * 24 * 3600 * SECOND)
        await agents.windows(agent, clock, 1)

        operator.down = False
        await agents.drain(agent, clock, at_most=5_000)

        assert len(operator.stored) == 2
        assert not operator.refused
        assert agent.recorder.spool.fact("dropped_full") == 8, "the idle window at the end too"
        await agent.aclose()

    asyncio.run(story())


def test_a_thousand_agents_do_not_push_in_step() -> None:
    seconds = [push_offset(f"AA-{number}") // SECOND for number in range(1_000)]
    per_second = [seconds.count(second) for second in range(60)]

    assert max(per_second) <= 3 * statistics.mean(per_second)
    assert push_offset("AA-7") == push_offset("AA-7")


def test_an_agent_suspended_for_a_day_invents_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(13)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(24 * 3600 * SECOND)
        await agent.tick()
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        clock.pass_time(60 * SECOND)
        await agents.drain(agent, clock, at_most=100)

        windows = sorted(operator.stored)
        assert windows == [
            (tag, window)
            for tag in sorted(Tag)
            for window in ("2026-04-01T10:00:00Z", "2026-04-02T10:00:00Z")
        ]
        await agent.aclose()

    asyncio.run(story())


def test_a_second_agent_started_by_mistake_replaces_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(14)
        first = agents.agent(tmp_path / "first", clock, operator)
        second = agents.agent(tmp_path / "second", clock, operator)
        await agents.record(second.recorder, agents.call(clock, status=500))
        await agents.windows(first, clock, 1)
        await second.tick()
        clock.pass_time(60 * SECOND)

        await agents.drain(first, clock, at_most=100)
        await agents.drain(second, clock, at_most=100)

        assert not operator.replaced
        assert b'"status":409' in dead_letters(tmp_path / "second" / "spool")[0].read_bytes()
        await first.aclose()
        await second.aclose()

    asyncio.run(story())


def test_dead_letters_have_a_bound_and_the_oldest_go_first(tmp_path: Path) -> None:
    async def story() -> None:
        windows = {f"2026-04-01T{10 + number // 6}:{number % 6}0:00Z" for number in range(20)}
        clock, operator = MovedClock(), HostileOperator(19, refuse_windows=windows)
        agent = agents.agent(tmp_path, clock, operator)
        warned: list[str] = []
        agent.pusher.warn = warned.append
        await agents.windows(agent, clock, 20)
        agent.pusher.max_bytes = 4 * 10_000
        await agents.push_for(agent, clock, 180)

        kept = dead_letters(tmp_path / "spool")
        assert 8_000 < sum(path.stat().st_size for path in kept) <= 10_000
        assert kept[-1].name.startswith(str(START + 19 * WINDOW))
        newest = [START + (19 - number // 2) * WINDOW for number in range(len(kept))]
        assert [int(path.name.partition("-")[0]) for path in reversed(kept)] == newest
        assert any("dead letters beyond 10000 bytes were dropped" in text for text in warned)
        await agent.aclose()

    asyncio.run(story())
