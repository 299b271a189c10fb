"""Quality G7 and G9 with a real agent process: a disk without room, and a day of suspension."""

import asyncio
import resource
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
from tests.support.agent.agent_process import SPEED, configured, free_port, started
from tests.support.agent.fast_agent import FastClock
from tests.support.agent.hostile_operator import HostileOperator, listening
from tests.support.manual_clock import SECOND
from tests.support.until import PATIENCE_S

from mudra.metrics.payload.catalogue import Tag

DAY = 86_400 * SECOND


async def _report(http: httpx2.AsyncClient, key: str) -> httpx2.Response:
    common = {"route": "/FI/fetch", "peerId": "FIP-1", "peerType": "FIP", "txnCorId": key}
    return await http.post(
        "/sna/v1/aa",
        json=[
            common | {"callType": "requestOut"},
            common | {"callType": "responseIn", "httpStatus": 200},
        ],
    )


async def _until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if holds():
                return
            await asyncio.sleep(0.05)


async def _status(http: httpx2.AsyncClient) -> dict[str, object]:
    status: dict[str, object] = (await http.get("/status")).json()
    return status


def _windows(operator: HostileOperator) -> dict[str, int]:
    """Calls by window of which both payloads are stored."""
    calls = {
        key: sum(block.counts[0] for fip in one.report.fips for block in fip.metrics)
        for key, one in operator.stored.items()
    }
    windows = {window for _, window in calls}
    return {
        window: sum(calls[tag.value, window] for tag in Tag)
        for window in sorted(windows)
        if all((tag.value, window) in calls for tag in Tag)
    }


def test_a_disk_without_room_harms_no_one_and_loses_no_call(tmp_path: Path) -> None:
    """RLIMIT_FSIZE as the full disk: each write beyond it fails, in whatever file."""

    async def story() -> None:
        operator, anchor = HostileOperator(21), time.time()
        operator.now = FastClock(anchor, SPEED).datetime
        async with listening(operator) as url:
            port = free_port()
            address = f"http://127.0.0.1:{port}"
            process = await started(configured(tmp_path, url, port), anchor, address)
            async with httpx2.AsyncClient(base_url=address) as http:
                assert "x-mudra-durable" not in (await _report(http, "before")).headers

                room = resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4_096, -1))
                sent = 1
                async with asyncio.timeout(PATIENCE_S):
                    while not (await _status(http))["diskFault"]:
                        assert (await _report(http, f"full-{sent}")).status_code in {200, 503}
                        sent += 1
                answer = await _report(http, "full-last")
                assert answer.status_code == 503
                assert answer.headers["x-mudra-durable"] == "no"
                ready = await http.get("/readyz")
                assert ready.status_code == 503
                assert "spool cannot be written" in ready.text
                (tmp_path / "the-hosts-own").write_bytes(bytes(1 << 20))

                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, room)
                async with asyncio.timeout(PATIENCE_S):
                    while True:
                        if not (await _status(http))["diskFault"]:
                            break
                        await asyncio.sleep(0.05)
                await _until(lambda: sum(_windows(operator).values()) >= sent + 1)
                assert "x-mudra-durable" not in (await _report(http, "after")).headers
                await _until(lambda: sum(_windows(operator).values()) >= sent + 2)
                assert (await _status(http))["droppedFull"] == 0
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
        assert sum(_windows(operator).values()) == sent + 2, operator.describe()
        assert not operator.replaced
        assert not operator.refused

    asyncio.run(story())


def test_a_process_stopped_for_a_day_sends_what_it_has_and_invents_nothing(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        operator, anchor, speed = HostileOperator(22), time.time(), 28_800
        clock = FastClock(anchor, speed)
        operator.now = clock.datetime
        async with listening(operator) as url:
            port = free_port()
            address = f"http://127.0.0.1:{port}"
            process = await started(configured(tmp_path, url, port), anchor, address, speed)
            async with httpx2.AsyncClient(base_url=address) as http:
                assert (await _report(http, "before")).status_code == 200
                process.send_signal(signal.SIGSTOP)
                stopped = clock.wall()
                await _until(lambda: clock.wall() - stopped > DAY)
                resumed = clock.wall()
                process.send_signal(signal.SIGCONT)
                assert (await _report(http, "after")).status_code == 200
                await _until(lambda: sum(_windows(operator).values()) == 2)
                status = await _status(http)
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0

        starts = [
            checked.window.timestamp() * SECOND
            for checked in operator.stored.values()  # idle windows too
        ]
        assert [start for start in starts if stopped < start <= resumed - 600 * SECOND] == []
        busy = [window for window, calls in _windows(operator).items() if calls]
        first, last = (operator.stored[Tag.REQUESTS.value, one] for one in busy)
        assert first.window.timestamp() * SECOND <= stopped
        assert last.window.timestamp() * SECOND > resumed - 600 * SECOND
        assert status["deadLetters"] == 0
        assert not operator.replaced
        assert not operator.refused

    asyncio.run(story())
