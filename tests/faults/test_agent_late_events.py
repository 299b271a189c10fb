"""Events that come after their window was pushed: it is pushed again, whole, and replaced."""

import asyncio
import itertools
import re
from pathlib import Path

import msgspec
import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import PUSH, TOKEN, HostileOperator, Reply
from tests.support.manual_clock import OUTBOUND, SECOND, START, WINDOW, MovedClock

from mudra.agent.counting import window_holds
from mudra.agent.counting.event import Call, CallEnded, CallStarted
from mudra.agent.host.assembly import Agent
from mudra.metrics.payload.catalogue import Tag

MINUTE = 60 * SECOND
KEY = (Tag.REQUESTS.value, "2026-04-01T10:00:00Z")


def _calls(number: int, took: int, name: str, status: int = 200) -> list[Call]:
    """Calls of the first window, as one server's queue has them."""
    return [
        Call(
            OUTBOUND, "FIP-1", "adisc", START + 1_000, 1_000_000, took, status, key=f"{name}{index}"
        )
        for index in range(number)
    ]  # fmt: skip


async def _pushed(agent: Agent, clock: MovedClock) -> None:
    """Let what is due be closed and pushed."""
    clock.pass_time(window_holds.QUIET + SECOND)
    await agent.tick()
    await agents.push_for(agent, clock, 130)


async def _first_window(agent: Agent, clock: MovedClock) -> None:
    await agents.record(agent.recorder, *_calls(8, 100, "a"))
    clock.pass_time(WINDOW + 31 * SECOND)
    await agent.tick()
    await _pushed(agent, clock)


def _block(operator: HostileOperator) -> tuple[list[int], list[int]]:
    (block,) = operator.stored[KEY].report.fips[0].metrics
    return list(block.counts[:2]), list(block.pxx)


def test_a_second_server_s_queue_is_in_the_replacement_with_right_percentiles(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await _first_window(agent, clock)
        assert _block(operator) == ([8, 8], [100, 100, 100, 100])
        pushes = len(operator.pushes)

        await agents.record(agent.recorder, *_calls(2, 900, "b"))
        await _pushed(agent, clock)

        assert _block(operator) == ([10, 10], [100, 900, 900, 900])
        assert operator.replaced == [KEY]
        # The notifications of the window are as they were, and are not pushed again.
        assert len(operator.pushes) == pushes + 1
        assert agent.recorder.counter.metrics.late == 0
        await agent.aclose()

    asyncio.run(story())


def test_halves_of_a_late_call_count_in_its_own_window(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await _first_window(agent, clock)
        started = [
            CallStarted(name, OUTBOUND, "FIP-1", "adisc", START + 1_000, 1_000_000)
            for name in ("answered", "never")
        ]

        await agents.record(
            agent.recorder, *started,
            CallEnded("answered", OUTBOUND, START + 1_300, 1_000_300, 404),
        )  # fmt: skip  # one line a group
        clock.pass_time(31 * SECOND)
        await agent.tick()
        await _pushed(agent, clock)

        counts = list(operator.stored[KEY].report.fips[0].metrics[0].counts)
        assert (counts[0], counts[1], counts[5]) == (10, 8, 1)
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("moment", ["recorded", "closed"])
def test_a_crash_loses_no_late_event_and_doubles_none(tmp_path: Path, moment: str) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await _first_window(agent, clock)
        await agents.record(agent.recorder, *_calls(2, 900, "b"))
        if moment == "closed":
            clock.pass_time(window_holds.QUIET + SECOND)
            await agent.tick()
        agent.recorder.spool.close()  # as kill -9 leaves it

        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, *_calls(2, 900, "b"), *_calls(1, 50, "c"))
        await _pushed(agent, clock)

        assert _block(operator) == ([11, 11], [100, 900, 900, 900])
        await agent.aclose()

    asyncio.run(story())


def test_a_crash_keeps_what_a_late_event_changes_nothing_of(tmp_path: Path) -> None:
    """The window is open for a notification, and its requests still wait for the operator."""

    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        late = agents.call(clock, "alnot", inbound=True)
        await agents.record(agent.recorder, *_calls(8, 100, "a"))
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        await agents.record(agent.recorder, late)
        agent.recorder.spool.close()  # as kill -9 leaves it

        agent = agents.agent(tmp_path, clock, operator)
        await _pushed(agent, clock)

        assert _block(operator) == ([8, 8], [100, 100, 100, 100])
        notified = operator.stored[Tag.NOTIFICATIONS.value, KEY[1]].report
        assert [block.counts[0] for fip in notified.fips for block in fip.metrics] == [1]
        await agent.aclose()

    asyncio.run(story())


def test_a_window_that_still_waits_is_pushed_once_and_as_it_is_now(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        await _first_window(agent, clock)
        await agents.record(agent.recorder, *_calls(2, 900, "b"))
        await _pushed(agent, clock)
        waiting = [one for one in agent.recorder.spool.queued() if one.window == START]
        assert [(one.tag, one.revision) for one in waiting] == [
            (Tag.NOTIFICATIONS, 0), (Tag.REQUESTS, 1),
        ]  # fmt: skip  # one a line
        operator.down = False

        await agents.drain(agent, clock, at_most=2_000)

        assert _block(operator)[0] == [10, 10]
        assert operator.replaced == []
        await agent.aclose()

    asyncio.run(story())


def test_an_older_revision_never_overtakes_a_newer_one(tmp_path: Path) -> None:
    """Of one window and tag one payload is on its way, and a refused one is not sent again."""

    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, *_calls(8, 100, "a"))
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        clock.pass_time(MINUTE)
        under_way = await agent.pusher.next()
        clock.pass_time(SECOND)
        other = await agent.pusher.next()
        assert under_way is not None
        assert other is not None
        await agents.record(agent.recorder, *_calls(2, 900, "b"))
        clock.pass_time(window_holds.QUIET + SECOND)
        await agent.tick()
        assert await agent.pusher.next() is None

        operator.down = True
        for one in (under_way, other):
            await agent.pusher.send(one)
        operator.down = False
        await agents.drain(agent, clock, at_most=2_000)

        assert _block(operator)[0] == [10, 10]
        assert operator.replaced == []
        assert agent.recorder.spool.fact("dropped_damaged") is None
        await agent.aclose()

    asyncio.run(story())


def test_late_events_of_a_window_that_is_kept_no_more_are_counted_as_late(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await _first_window(agent, clock)
        agent.recorder.kept.clear()

        await agents.record(agent.recorder, *_calls(2, 900, "b"))
        await _pushed(agent, clock)

        assert agent.recorder.counter.metrics.late == 2
        assert _block(operator)[0] == [8, 8]
        await agent.aclose()

    asyncio.run(story())


def test_the_operator_sees_which_agent_pushes(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        answer, seen = operator.answer, set()

        def note(path: str, headers: dict[str, str], body: bytes) -> Reply:
            seen.add((path, headers["user-agent"]))
            return answer(path, headers, body)

        operator.answer = note  # type: ignore[method-assign]
        await _first_window(agent, clock)

        assert {path for path, _ in seen} == {TOKEN, PUSH}
        (named,) = {name for _, name in seen}
        assert re.fullmatch(r"mudra-agent/\d+\.\d+\.\d+\S*", named)
        await agent.aclose()

    asyncio.run(story())


def test_an_operator_that_is_back_for_two_minutes_gets_both_payloads(tmp_path: Path) -> None:
    """After hours of outage no pause is above a minute, and each round tries both tags."""

    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(3, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, *_calls(8, 100, "a"))
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        tries: list[tuple[int, Tag]] = []
        for _ in range(2 * 3600):
            queued = await agent.pusher.next()
            if queued is not None:
                tries.append((clock.mono, queued.tag))
                await agent.pusher.send(queued)
            clock.pass_time(SECOND // 2)
        late = [at for at, _ in tries if at > tries[0][0] + 10 * MINUTE]
        assert max(b - a for a, b in itertools.pairwise(late)) <= MINUTE + SECOND
        assert {tag for _, tag in tries[-2:]} == set(Tag)

        operator.down = False
        await agents.push_for(agent, clock, 65)

        assert set(operator.stored) == {(tag.value, KEY[1]) for tag in Tag}
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("path", [TOKEN, PUSH])
def test_a_proxy_that_asks_for_an_hour_is_asked_again_within_a_minute(
    tmp_path: Path, path: str
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(4)
        agent = agents.agent(tmp_path, clock, operator)
        answer, asked = operator.answer, list[int]()

        def away(where: str, headers: dict[str, str], body: bytes) -> Reply:
            if where != path:
                return answer(where, headers, body)
            asked.append(clock.mono)
            return Reply(503, b"<html>maintenance", {"retry-after": "3600"})

        operator.answer = away  # type: ignore[method-assign]
        await _first_window(agent, clock)
        await agents.push_for(agent, clock, 300)
        assert len(asked) >= 4
        assert all(b - a <= MINUTE + SECOND for a, b in itertools.pairwise(asked))

        operator.answer = answer  # type: ignore[method-assign]
        await agents.push_for(agent, clock, 65)

        assert set(operator.stored) == {(tag.value, KEY[1]) for tag in Tag}
        await agent.aclose()

    asyncio.run(story())


def test_a_full_disk_is_answered_with_503_and_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        common = {"route": "/Consent", "peerId": "FIP-1", "txnCorId": "k"}
        events = [
            common | {"callType": "requestOut"},
            common | {"callType": "responseIn", "httpStatus": 200},
        ]
        write = agent.recorder.spool.write_journal
        async with agents.asking(agent) as http:

            def full(*_: object) -> None:
                raise OSError(28, "No space left on device")

            agent.recorder.spool.write_journal = full  # type: ignore[method-assign]
            refused = await http.post("/sna/v1/aa", json=events)
            assert refused.status_code == 503
            assert set(refused.json()) == {"message", "errorCode"}
            assert int(refused.headers["retry-after"]) > 0
            agent.recorder.spool.write_journal = write  # type: ignore[method-assign]
            await agent.recorder.save()
            assert (await http.post("/sna/v1/aa", json=events)).status_code == 200
        tally = agent.recorder.counter.close(START).requests["FIP-1", "cns"]
        assert tally.counts[:2] == [1, 1]
        await agent.aclose()

    asyncio.run(story())


def test_the_disk_s_state_is_read_from_names_alone(tmp_path: Path) -> None:
    """The names of payload files say their revision, also to `agent status` of a stopped agent."""

    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1, down=True)
        agent = agents.agent(tmp_path, clock, operator)
        await _first_window(agent, clock)
        before = {one.name for one in agent.recorder.spool.queued()}
        agent.recorder.spool.close()
        agent = agents.agent(tmp_path, clock, operator)
        assert before == {one.name for one in agent.recorder.spool.queued()}
        body = agent.recorder.spool.body(agent.recorder.spool.queued()[0])
        assert body is not None
        assert msgspec.json.decode(body)["aaId"] == "AA-1"
        await agent.aclose()

    asyncio.run(story())
