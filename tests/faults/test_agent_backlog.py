"""What sources queued while the agent was down is counted whole, in its own windows (0020)."""

import asyncio
from pathlib import Path

import httpx2
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, START, WINDOW, MovedClock

from mudra.agent.counting.tally import Tally
from mudra.agent.counting.window import WindowTally
from mudra.agent.counting.window_holds import WindowHolds

MAX_HELD_BLOCKS = 50_000
MAX_HOLD = 3_600_000
MAX_STARTS = 5
QUIET = 60_000

CONSENT = {"route": "/Consent", "peerId": "FIP-1", "peerType": "FIP"}


def _request(at: int, key: str) -> dict[str, object]:
    return CONSENT | {"callType": "requestOut", "txnCorId": key, "timestamp": at}


def _response(at: int, key: str) -> dict[str, object]:
    return CONSENT | {
        "callType": "responseIn",
        "txnCorId": key,
        "timestamp": at,
        "httpStatus": 200,
    }


async def _send(http: httpx2.AsyncClient, *events: dict[str, object]) -> None:
    assert (await http.post("/sna/v1/aa", json=events)).json() == {"message": "accepted"}


def test_batches_for_windows_of_a_downtime_are_counted_whole(tmp_path: Path) -> None:
    async def story() -> None:
        clock = MovedClock(START + 6 * WINDOW)
        agent = agents.agent(tmp_path, clock, HostileOperator(1))
        async with agents.asking(agent) as http:
            for batch in range(5):
                for window in (1, 2):
                    at, key = START + window * WINDOW + batch * SECOND, f"{window}-{batch}"
                    await _send(http, _request(at, key), _response(at + 90, key))
                assert await agent.tick() == []
                clock.pass_time(20 * SECOND)
            clock.pass_time(QUIET - 21 * SECOND)
            assert await agent.tick() == []
            clock.pass_time(SECOND)
            assert await agent.tick() == [START + WINDOW, START + 2 * WINDOW]

        assert agents.counts(agent) == {"10:10": [5, 5], "10:20": [5, 5]}
        assert agent.recorder.counter.metrics.late == 0
        await agent.aclose()

    asyncio.run(story())


def test_an_answer_that_comes_in_a_later_batch_than_its_call_is_counted(tmp_path: Path) -> None:
    async def story() -> None:
        clock = MovedClock(START + 6 * WINDOW)
        agent = agents.agent(tmp_path, clock, HostileOperator(1))
        async with agents.asking(agent) as http:
            await _send(http, _request(START + 5, "k"), _request(START + 6, "lost"))
            clock.pass_time(2 * SECOND)
            await agent.tick()
            await _send(http, _response(START + 95, "k"))
            clock.pass_time(QUIET)
            await agent.tick()

        assert agents.counts(agent) == {"10:00": [2, 1]}
        await agent.aclose()

    asyncio.run(story())


def test_a_window_that_ended_during_a_restart_waits_for_what_is_queued(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(START + 540 * SECOND), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock, "cns"))
        await agent.aclose()
        clock.pass_time(100 * SECOND)

        agent = agents.agent(tmp_path, clock, operator)
        assert await agent.tick() == []
        clock.pass_time(40 * SECOND)
        async with agents.asking(agent) as http:
            at = START + 570 * SECOND
            await _send(http, _request(at, "k"), _response(at + 90, "k"))
        clock.pass_time(40 * SECOND)
        assert await agent.tick() == []
        clock.pass_time(20 * SECOND)
        assert await agent.tick() == [START]

        assert agents.counts(agent) == {"10:00": [2, 2]}
        await agent.aclose()

    asyncio.run(story())


def test_a_source_that_never_ends_holds_no_window_for_ever(tmp_path: Path) -> None:
    async def story() -> None:
        clock = MovedClock(START + 6 * WINDOW)
        agent = agents.agent(tmp_path, clock, HostileOperator(1))
        closed: list[int] = []
        async with agents.asking(agent) as http:
            for number in range(MAX_HOLD // (30 * SECOND) + 1):
                await _send(http, _request(START, f"k-{number}"))
                closed += await agent.tick()
                clock.pass_time(30 * SECOND)

        assert START in closed
        await agent.aclose()

    asyncio.run(story())


def test_an_agent_that_ends_again_and_again_reports_what_it_has(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await agents.record(agent.recorder, agents.call(clock, "cns"))
        clock.pass_time(WINDOW + 31 * SECOND)
        closed = []
        for _ in range(MAX_STARTS + 1):
            agent.recorder.spool.close()  # as kill -9 leaves it
            agent = agents.agent(tmp_path, clock, operator)
            closed.append(await agent.tick())
            clock.pass_time(SECOND)

        assert closed == [[]] * MAX_STARTS + [[START]]
        await agent.aclose()

    asyncio.run(story())


def test_of_too_many_held_windows_those_with_the_latest_events_stay_open() -> None:
    clock, holds = MovedClock(), WindowHolds()
    windows = {START - number * WINDOW: WindowTally() for number in (1, 2, 3)}
    for window in windows.values():
        shared = Tally()
        window.requests = {(f"F-{n}", "hbt"): shared for n in range(MAX_HELD_BLOCKS // 2)}
    for start in windows:  # the newest window first, so that the oldest has the latest event
        holds.arrived([agents.call(MovedClock(start, clock.mono))], windows, START, clock.mono)
        clock.pass_time(SECOND)

    held = holds.held(sorted(windows), windows, clock.mono)

    assert held == {START - 2 * WINDOW, START - 3 * WINDOW}
