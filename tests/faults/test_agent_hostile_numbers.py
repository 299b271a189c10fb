"""Numbers that nothing can hold, and batches sent twice: the agent goes on, and counts once."""

import asyncio
import socket
from pathlib import Path

import httpx2
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.support.agent import agents
from tests.support.agent.hostile_operator import HostileOperator
from tests.support.manual_clock import START, MovedClock

from mudra.agent.host.run import run_agent

TRACES = "/v1/traces"
PROTOBUF = {"content-type": "application/x-protobuf"}


def _traces(end: str, size: str = "700") -> dict[str, object]:
    """One FI fetch, as an exporter sends it in JSON."""
    values = {"http.request.method": "POST", "url.path": "/FI/fetch", "aa.fip.id": "FIP-1"}
    attributes: list[dict[str, object]] = [
        {"key": key, "value": {"stringValue": value}} for key, value in values.items()
    ]
    attributes += [
        {"key": key, "value": {"intValue": value}}
        for key, value in {"http.response.status_code": "200", "aa.packet.bytes": size}.items()
    ]
    span = {
        "kind": 3, "traceId": "0a" * 16, "spanId": "0b" * 8, "attributes": attributes,
        "startTimeUnixNano": str(START * 1_000_000), "endTimeUnixNano": end,
    }  # fmt: skip  # one span
    return {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}


def _request(start: int = START) -> bytes:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(
        kind=3, trace_id=b"t" * 16, span_id=b"s" * 8,
        start_time_unix_nano=start * 1_000_000, end_time_unix_nano=(start + 90) * 1_000_000,
    )  # fmt: skip  # one span
    for key, value in {"http.request.method": "POST", "url.path": "/Consent"}.items():
        span.attributes.add(key=key).value.string_value = value
    span.attributes.add(key="aa.fip.id").value.string_value = "FIP-1"
    span.attributes.add(key="http.response.status_code").value.int_value = 200
    return request.SerializeToString()


@pytest.mark.parametrize(("end", "size"), [("9" * 32, "700"), (str(START * 1_000_000), "9" * 40)])
def test_a_number_beyond_its_field_is_refused_and_the_writer_goes_on(
    tmp_path: Path, end: str, size: str
) -> None:
    async def story() -> None:
        agent = agents.agent(tmp_path, MovedClock(), HostileOperator(1))
        async with agents.asking(agent) as http:
            refused = await http.post(TRACES, json=_traces(end, size))
            good = await http.post(TRACES, json=_traces(str((START + 90) * 1_000_000)))

        assert refused.json()["partialSuccess"]["rejectedSpans"] == "1"
        assert (good.json(), "x-mudra-durable" in good.headers) == ({}, False)
        tally = agent.recorder.counter.close(START).requests["FIP-1", "fif"]
        assert (tally.counts[:2], tally.size) == ([1, 1], 700)
        await agent.aclose()

    asyncio.run(story())


def test_a_batch_of_spans_that_is_sent_twice_counts_once_also_over_a_restart(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        clock, operator = MovedClock(), HostileOperator(1)
        for _ in range(2):
            agent = agents.agent(tmp_path, clock, operator)
            async with agents.asking(agent) as http:
                for _ in range(2):
                    await http.post(TRACES, content=_request(), headers=PROTOBUF)
            agent.recorder.spool.close()  # as kill -9 leaves it
        agent = agents.agent(tmp_path, clock, operator)

        assert agent.recorder.counter.close(START).requests["FIP-1", "cns"].counts[:2] == [1, 1]
        await agent.aclose()

    asyncio.run(story())


def test_spans_that_are_not_counted_are_reported_to_an_exporter_of_protobuf_too(
    tmp_path: Path,
) -> None:
    async def story() -> None:
        agent = agents.agent(tmp_path, MovedClock(), HostileOperator(1))
        async with agents.asking(agent) as http:
            old = _request(START - 8 * 86_400_000)
            answer = await http.post(TRACES, content=old, headers=PROTOBUF)

        found = ExportTraceServiceResponse.FromString(answer.content).partial_success
        assert found.rejected_spans == 1
        assert "7 days" in found.error_message
        await agent.aclose()

    asyncio.run(story())


def test_an_unexpected_error_of_the_writer_ends_neither_it_nor_the_agent(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    async def story() -> None:
        clock, stop = MovedClock(), asyncio.Event()
        agent = agents.agent(
            tmp_path, clock, HostileOperator(1), http={"listen": [f"127.0.0.1:{port}"]}
        )
        running = asyncio.create_task(run_agent(agent, stop))
        # No source lets such a number pass: it is what a fault of ours would look like.
        unwritten = await agent.recorder.record([agents.call(clock, took=2**70)])
        for _ in range(600):
            if written := await agent.recorder.record([agents.call(clock)]):
                break
            await asyncio.sleep(0.05)  # until a snapshot has what the journal misses
        async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:
            status = (await http.get("/status")).json()
        stop.set()

        assert (unwritten, written) == (False, True)
        assert status["running"]
        assert await running == 0

    asyncio.run(story())
