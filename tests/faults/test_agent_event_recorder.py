"""Quality G6 to G8 in moved time: crashes, a full disk, and a clock that jumps."""

import asyncio
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import OUTBOUND, SECOND, START, WINDOW, MovedClock

from mudra.agent.counting.event import CallEnded, CallStarted, FiStatus, Notification
from mudra.agent.host.assembly import Agent
from mudra.metrics.payload.catalogue import Tag

QUIET = 60_000


def _totals(agent: Agent) -> dict[tuple[str, str], int]:
    """Calls by window and type over everything that waits."""
    found: dict[tuple[str, str], int] = {}
    for queued in agent.recorder.spool.queued():
        body = agent.recorder.spool.body(queued)
        assert body is not None
        payload = msgspec.json.decode(body)
        for fip in payload["fips"]:
            for block in fip["metrics"]:
                key = (payload["fromDateTime"][11:16], block["type"])
                found[key] = found.get(key, 0) + block["counts"][0]
    return found


def _crashed(agent: Agent, directory: Path, to: Path) -> Path:
    """The disk as kill -9 leaves it at this moment."""
    to.mkdir()
    shutil.copytree(directory / "spool", to / "spool")
    agent.recorder.spool.close()
    return to


def _script(agent: Agent, clock: MovedClock, session: Notification):
    return [
        lambda: agents.record(agent.recorder, agents.call(clock, "fireq", session="S-1")),
        lambda: agents.record(
            agent.recorder, CallStarted("k", OUTBOUND, "FIP-1", "adisc", clock.now, clock.mono)
        ),
        lambda: agents.record(agent.recorder, CallEnded("k", OUTBOUND, clock.now, clock.mono, 200)),
        lambda: agents.record(
            agent.recorder, agents.call(clock, "finot", inbound=True, notification=session)
        ),
        agent.tick,
        lambda: agents.record(agent.recorder, agents.call(clock)),
        agent.recorder.save,
        lambda: agents.record(agent.recorder, agents.call(clock)),
        agent.tick,
        lambda: agents.record(agent.recorder, agents.call(clock, "hbt")),
        agent.tick,
    ]


def test_a_crash_after_any_step_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    async def story(steps: int) -> dict[tuple[str, str], int]:
        clock, operator = MovedClock(), HostileOperator(1)
        directory = tmp_path / f"crash-{steps}-0"
        agent = agents.agent(directory, clock, operator)
        session = Notification("S-1", FiStatus.READY)
        script = _script(agent, clock, session)
        for number, _ in enumerate(script):
            if number == steps:
                directory = _crashed(agent, directory, tmp_path / f"crash-{steps}-1")
                agent = agents.agent(directory, clock, operator)
                script = _script(agent, clock, session)
            await script[number]()
            clock.pass_time(90 * SECOND)
        clock.pass_time(2 * WINDOW)
        await agent.tick()
        totals = _totals(agent)
        await agent.aclose()
        return totals

    without_crash = asyncio.run(story(-1))
    assert without_crash["10:00", "sfireqnot"] == 1
    assert sum(without_crash.values()) == 7
    for steps in range(11):
        assert asyncio.run(story(steps)) == without_crash, steps


def test_a_reboot_keeps_durations_and_calls_under_way(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path / "a", clock, operator)
        await agents.record(agent.recorder, agents.call(clock, "fireq", session="S-1"))

        directory = _crashed(agent, tmp_path / "a", tmp_path / "b")
        clock.reboot(took=120 * SECOND)
        agent = agents.agent(directory, clock, operator)
        await agents.record(
            agent.recorder,
            agents.call(
                clock, "finot", inbound=True, notification=Notification("S-1", FiStatus.READY)
            ),
        )
        tally = agent.recorder.counter.close(START).requests["FIP-1", "sfireqnot"]

        assert tally.times is not None
        assert tally.times.longest == 120 * SECOND - 100
        await agent.aclose()

    asyncio.run(story())


def test_a_full_disk_stops_no_counting_and_the_agent_resumes_by_itself(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        db = sqlite3.Connection.execute
        spool = agent.recorder.spool
        pages = db(spool._db, "PRAGMA page_count").fetchone()[0]
        db(spool._db, f"PRAGMA max_page_count = {pages}")

        answers = [
            await agents.record(
                agent.recorder,
                *(agents.call(clock, "hbt", f"FIP-{number}-{n}") for n in range(500)),
            )
            for number in range(20)
        ]
        assert False in answers
        assert "full" in agent.recorder.disk_error
        db(spool._db, "PRAGMA query_only = ON")  # not even room for what closing frees
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        assert agent.recorder.disk_error
        assert not agent.health().ready
        assert agent.recorder.unwritten == 1
        late = await agents.record(agent.recorder, agents.call(clock))

        db(spool._db, "PRAGMA query_only = OFF")
        db(spool._db, "PRAGMA max_page_count = 1000000")
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()

        assert late is False
        assert agent.recorder.disk_error == ""
        totals = _totals(agent)
        # The bound of 5,000 FIPs in a window holds with a full disk too.
        assert totals == {("10:00", "hbt"): 5_000, ("10:10", "adisc"): 1}
        assert await agents.record(agent.recorder, agents.call(clock)) is True
        await agent.aclose()

    asyncio.run(story())


@pytest.mark.parametrize("jump", [-3 * 3600, -700, 700, 3 * 3600])
def test_a_jump_of_the_clock_makes_no_window_twice_and_no_wrong_duration(
    tmp_path: Path, jump: int
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(START + 6 * WINDOW), HostileOperator(2)
        agent = agents.agent(tmp_path, clock, operator)
        for _ in range(3):
            await agents.record(agent.recorder, agents.call(clock))
            clock.pass_time(WINDOW)
            await agent.tick()
        await agents.record(
            agent.recorder, CallStarted("k", OUTBOUND, "FIP-1", "alink", clock.now, clock.mono)
        )
        clock.pass_time(250)
        clock.jump(jump * SECOND)
        await agent.tick()
        await agents.record(agent.recorder, CallEnded("k", OUTBOUND, clock.now, clock.mono, 200))
        for _ in range(24):
            await agents.record(agent.recorder, agents.call(clock))
            clock.pass_time(WINDOW)
            await agent.tick()
        clock.pass_time(91 * SECOND)
        await agent.tick()

        queued = agent.recorder.spool.queued()
        reported_once = {(one.window, one.tag) for one in queued}
        assert len(reported_once) == len(queued)
        assert {window for window, _ in reported_once} == {
            window for window, tag in reported_once if tag == Tag.REQUESTS.value
        }
        assert agent.recorder.clock_jumps == 1
        for one in queued:
            payload = msgspec.json.decode(agent.recorder.spool.body(one) or b"")
            assert payload["duration"] == 600
            for block in (block for fip in payload["fips"] for block in fip["metrics"]):
                assert block["pxx"][3] in ({0, 250} if block["type"] == "alink" else {100})
        await agents.drain(agent, clock, at_most=5_000)
        assert not operator.replaced
        assert any("clock-jumps=1" in note for note in operator.notes)
        marked = [note for note in operator.notes if f"clock-jump={jump:+}.0s" in note]
        assert len(marked) in {2, 4}, "both payloads of one window, or of the two parts of it"
        await agent.aclose()

    asyncio.run(story())


def test_the_journal_of_an_older_agent_blocks_no_start(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        agent.recorder.spool.write_journal(99, b"\x81\xa3old")
        agent.recorder.spool.close()

        agent = agents.agent(tmp_path, clock, operator)

        assert await agents.record(agent.recorder, agents.call(clock)) is True
        await agent.aclose()

    asyncio.run(story())


def test_a_window_without_calls_is_pushed_when_the_agent_ran_in_it(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        await agent.tick()
        clock.pass_time(2 * WINDOW)
        await agent.tick()
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()
        clock.pass_time(60 * SECOND)
        await agents.drain(agent, clock, at_most=100)

        idle = {"2026-04-01T10:00:00Z", "2026-04-01T10:20:00Z"}
        assert operator.stored.keys() == {(tag, window) for tag in Tag for window in idle}
        assert all(checked.report.fips == () for checked in operator.stored.values())
        await agent.aclose()

    asyncio.run(story())


def test_an_idle_window_survives_a_crash(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path / "a", clock, operator)
        await agent.tick()
        await agent.recorder.save()
        clock.pass_time(WINDOW + 5 * SECOND)

        agent = agents.agent(_crashed(agent, tmp_path / "a", tmp_path / "b"), clock, operator)
        clock.pass_time(90 * SECOND)
        await agent.tick()
        await agents.drain(agent, clock, at_most=100)

        assert len(operator.stored) == 2
        await agent.aclose()

    asyncio.run(story())


def test_an_agent_that_cannot_read_a_log_reports_no_idle_window(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        log = {"path": str(tmp_path / "none.json"), "format": "nginx", "direction": "to-fips"}
        agent = agents.agent(tmp_path, clock, operator, log=[log])
        await agent.read_logs()
        await agent.tick()
        clock.pass_time(WINDOW + 31 * SECOND)
        await agent.tick()

        assert agent.recorder.spool.queued() == []
        await agent.aclose()

    asyncio.run(story())


def test_a_success_after_a_counted_failure_is_reported_in_the_log(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path, clock, operator)
        logged: list[str] = []
        agent.recorder.warn = logged.append
        for status in (FiStatus.DENIED, FiStatus.READY):
            await agents.record(
                agent.recorder,
                agents.call(clock, "finot", inbound=True, notification=Notification("S-1", status)),
            )
            clock.pass_time(WINDOW + 31 * SECOND)
            await agent.tick()

        assert len(logged) == 1
        assert "FIP-1 reported success for FI session S-1 after its failure" in logged[0]
        await agent.aclose()

    asyncio.run(story())


def test_a_crash_between_the_payload_files_and_the_journal_doubles_nothing(tmp_path: Path) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        agent = agents.agent(tmp_path / "a", clock, operator)
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(WINDOW + 31 * SECOND)
        agent.recorder.spool._db.execute("PRAGMA query_only = ON")  # the files, then the crash
        await agent.tick()
        assert len(list((tmp_path / "a" / "spool" / "payloads").iterdir())) == 2

        agent = agents.agent(_crashed(agent, tmp_path / "a", tmp_path / "b"), clock, operator)
        assert agent.recorder.spool.queued() == []
        await agents.record(agent.recorder, agents.call(clock))
        clock.pass_time(QUIET)
        await agent.tick()

        assert _totals(agent) == {("10:00", "adisc"): 1}
        await agent.aclose()

    asyncio.run(story())
