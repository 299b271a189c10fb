"""A followed log and the journal together: no line lost or doubled by a crash, windows wait for lines."""

import asyncio
import json
import shutil
from pathlib import Path

import msgspec
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, START, WINDOW, MovedClock

from mudra.agent.counting import window_holds
from mudra.agent.host.assembly import Agent
from mudra.agent.sources.logs import log_file
from mudra.metrics.payload.catalogue import Tag


def _line(at: int) -> str:
    return (
        json.dumps(
            {
                "time": at / 1000,
                "method": "POST",
                "uri": "/Consent",
                "host": "fip-1.test",
                "status": 200,
                "request_time": 0.1,
            }
        )
        + "\n"
    )


async def _read(agent: Agent) -> None:
    """Read all there is, as the running agent does, with the disk written along."""
    more = True
    while more:
        reading = asyncio.ensure_future(agent.read_logs())
        while not reading.done():
            await agent.recorder.write_batch()
            await asyncio.sleep(0.001)
        more = reading.result()


def _counts(agent: Agent) -> dict[str, int]:
    found = {}
    for queued in agent.recorder.spool.queued():
        payload = msgspec.json.decode(agent.recorder.spool.body(queued) or b"")
        if queued.tag == Tag.REQUESTS.value:
            found[payload["fromDateTime"][11:16]] = payload["fips"][0]["metrics"][0]["counts"][0]
    return found


def test_lines_written_while_the_agent_was_down_go_into_their_own_windows(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        log = tmp_path / "access.json"
        log.touch()
        followed = [
            {"path": str(log), "format": "nginx", "direction": "to-fips", "start": "beginning"}
        ]
        agent = agents.agent(tmp_path / "a", clock, operator, log=followed)
        log.write_text("".join(_line(START + 200 + number) for number in range(10)))
        await _read(agent)

        # kill -9, the machine stays down for an hour, the proxy goes on and rotates its log
        (tmp_path / "b").mkdir()
        shutil.copytree(tmp_path / "a" / "spool", tmp_path / "b" / "spool")
        with log.open("a") as file:
            file.writelines(_line(START + 5_000 + number) for number in range(5))
        log.rename(tmp_path / "access.json.1")
        log.write_text("".join(_line(START + window * WINDOW + 7_000) for window in range(1, 6)))
        clock.pass_time(6 * WINDOW)
        agent = agents.agent(tmp_path / "b", clock, operator, log=followed)
        assert await agent.tick() == []
        await _read(agent)
        clock.pass_time(log_file.QUIET)  # the rotated file is complete
        await _read(agent)
        clock.pass_time(window_holds.QUIET - 31 * SECOND)
        await agent.tick()
        assert _counts(agent) == {}
        clock.pass_time(31 * SECOND)
        await agent.tick()

        assert _counts(agent) == {
            "10:00": 15,
            "10:10": 1,
            "10:20": 1,
            "10:30": 1,
            "10:40": 1,
            "10:50": 1,
        }
        await agent.aclose()

    asyncio.run(story())


def test_a_window_waits_for_the_lines_of_the_file_after_a_rotation(tmp_path: Path) -> None:
    async def story() -> None:
        clock = MovedClock(START + WINDOW - 10 * SECOND)
        log, rotated = tmp_path / "access.json", tmp_path / "access.json.1"
        log.touch()
        followed = [{"path": str(log), "format": "nginx", "direction": "to-fips"}]
        agent = agents.agent(tmp_path / "a", clock, HostileOperator(1), log=followed)
        await _read(agent)
        with log.open("a") as file:
            file.write(_line(clock.now))
        await _read(agent)
        clock.pass_time(38 * SECOND)
        log.rename(rotated)
        log.write_text(_line(START + WINDOW - SECOND))
        await _read(agent)
        clock.pass_time(5 * SECOND)
        with rotated.open("a") as file:
            file.write(_line(clock.now))  # later than the window's close
        await _read(agent)
        assert await agent.tick() == []
        clock.pass_time(log_file.QUIET)
        await _read(agent)
        clock.pass_time(window_holds.QUIET)
        await agent.tick()

        assert _counts(agent) == {"10:00": 2}
        await agent.aclose()

    asyncio.run(story())


def test_a_window_goes_without_the_payload_of_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    async def story() -> None:
        clock = MovedClock()
        logs = {
            "to-fips": tmp_path / "access.json",
            "from-fips": tmp_path / "none.json",
        }
        logs["to-fips"].touch()
        followed = [
            {"path": str(path), "format": "nginx", "direction": direction}
            for direction, path in logs.items()
        ]
        agent = agents.agent(tmp_path / "a", clock, HostileOperator(1), log=followed)
        warned: list[str] = []
        agent.recorder.warn = warned.append
        await _read(agent)
        logs["to-fips"].write_text(_line(START + 200))
        await _read(agent)
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        tags = [(one.window, one.tag) for one in agent.recorder.spool.queued()]
        assert tags == [(START, Tag.REQUESTS)]
        assert "not-fipMetrics-aa of 2026-04-01T10:00:00Z is not reported" in warned[0]

        logs["from-fips"].touch()  # readable in time: then all of its lines are there
        logs["to-fips"].write_text(_line(START + 200) + _line(clock.now))
        await _read(agent)
        clock.pass_time(WINDOW)
        await agent.tick()
        tags = [(one.window, one.tag) for one in agent.recorder.spool.queued()]
        assert [tag for window, tag in tags if window > START] == [Tag.NOTIFICATIONS, Tag.REQUESTS]
        await agent.aclose()

    asyncio.run(story())
