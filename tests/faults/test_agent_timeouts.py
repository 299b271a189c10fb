"""A call without an answer ends after its window closed: it counts all the same (0020)."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2
import pytest
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import SECOND, START, WINDOW, MovedClock

from mudra.agent.host.assembly import Agent

BEGAN = START + WINDOW - 20 * SECOND
ENDED = START + WINDOW + 40 * SECOND
MILLION = 1_000_000

Report = Callable[[Agent, httpx2.AsyncClient, Path], Awaitable[None]]


async def _span(agent: Agent, http: httpx2.AsyncClient, log: Path) -> None:
    values = {"http.request.method": "POST", "url.path": "/Consent", "server.address": "fip-1.test"}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    span = {
        "kind": 3,
        "startTimeUnixNano": BEGAN * MILLION,
        "endTimeUnixNano": ENDED * MILLION,
        "attributes": attributes,
    }
    body = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    assert (await http.post("/v1/traces", json=body)).json() == {}


async def _line(agent: Agent, http: httpx2.AsyncClient, log: Path) -> None:
    _write(log)
    while await agent.read_logs():
        pass


def _write(log: Path) -> None:
    line = {"time": ENDED / 1000, "request_time": (ENDED - BEGAN) / 1000, "method": "POST"}
    line |= {"uri": "/Consent", "host": "fip-1.test", "status": 504}
    line |= {"upstream_status": "504", "upstream_header_time": "-"}
    log.write_text(json.dumps(line) + "\n")


async def _halves(agent: Agent, http: httpx2.AsyncClient, log: Path) -> None:
    """As the Python library reports a call, once it is over."""
    call = {"route": "/Consent", "peerId": "FIP-1", "peerType": "FIP", "txnCorId": "k"}
    halves = [
        call | {"callType": "requestOut", "timestamp": BEGAN},
        call | {"callType": "responseIn", "timestamp": ENDED},
    ]
    assert (await http.post("/sna/v1/aa", json=halves)).json() == {"message": "accepted"}


@pytest.mark.parametrize("report", [_span, _line, _halves])
def test_a_call_without_an_answer_that_ends_after_its_window_closed_counts_in_the_next_one(
    tmp_path: Path, report: Report
) -> None:
    async def story() -> None:
        clock, log = MovedClock(), tmp_path / "access.json"
        log.touch()
        followed = [{"path": str(log), "format": "nginx", "direction": "to-fips"}]
        agent = agents.agent(tmp_path / "a", clock, HostileOperator(1), log=followed)
        async with agents.asking(agent) as http:
            await agent.read_logs()
            await agent.tick()
            clock.pass_time(WINDOW + 30 * SECOND)
            assert await agent.tick() == [START]
            clock.pass_time(10 * SECOND)
            await report(agent, http, log)
            clock.pass_time(WINDOW)
            assert await agent.tick() == [START + WINDOW]

        assert agents.counts(agent) == {"10:00": [0, 0], "10:10": [1, 0]}
        assert agent.recorder.counter.metrics.late == 0
        await agent.aclose()

    asyncio.run(story())
