"""The agent's own HTTP server, as hostile and odd programs of its host meet it: a real process."""

import asyncio
import gzip
import json
import re
import subprocess
import time
from collections.abc import Callable, Coroutine
from pathlib import Path

import httpx2
import zstandard
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.support.agent.running_agent import Running, running
from tests.support.depth import in_turn
from tests.support.programs import program

ROOT = Path(__file__).resolve().parents[2]
PROTOBUF = {"content-type": "application/x-protobuf"}
JSON = {"content-type": "application/json"}
EVENT = {"callType": "requestOut", "route": "/Consent", "peerId": "FIP-1", "peerType": "FIP"}
LARGE = 8 << 20
STATE = ["/status", "/metrics", "/readyz", "/livez", "/sna/v1/ping", "/sna/v1/version"]

Ask = Callable[[httpx2.AsyncClient, str], Coroutine[None, None, None]]


def _spans(number: int = 1) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    spans = request.resource_spans.add().scope_spans.add().spans
    at = time.time_ns() - 10**9
    for index in range(number):
        span = spans.add(
            kind=3, trace_id=b"t" * 16, span_id=index.to_bytes(8, "big"),
            start_time_unix_nano=at, end_time_unix_nano=at + 10**8,
        )  # fmt: skip  # one span
        for key, value in {
            "http.request.method": "POST",
            "url.full": "https://fip-one.example/Accounts/discover",
            "server.address": "fip-one.example",
        }.items():
            span.attributes.add(key=key).value.string_value = value
        span.attributes.add(key="http.response.status_code").value.double_value = 200
    return request


def _head(path: str, **headers: str) -> bytes:
    lines = {"Host": "127.0.0.1", "Content-Type": "application/json", **headers}
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"POST {path} HTTP/1.1\r\n{fields}\r\n".encode()


def test_an_offer_of_another_protocol_costs_no_body(tmp_path: Path) -> None:
    """Java's client offers h2c with its first request over plain http."""

    async def story() -> None:
        async with running(tmp_path) as agent:
            offer = {
                "Connection": "Upgrade, HTTP2-Settings",
                "Upgrade": "h2c",
                "HTTP2-Settings": "AAMAAABk",
            }
            traces = _spans().SerializeToString()
            event = json.dumps(EVENT).encode()
            for path, body, kind in (
                ("/v1/traces", traces, "application/x-protobuf"),
                ("/sna/v1/aa", event, "application/json"),
            ):
                before = await agent.counted()
                sized = {"Content-Type": kind, "Content-Length": str(len(body))}
                answer = await agent.raw(_head(path, **offer, **sized) + body)
                assert answer.startswith(b"HTTP/1.1 200"), answer
                chunked = {"Content-Type": kind, "Transfer-Encoding": "chunked"}
                parts = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
                answer = await agent.raw(_head(path, **offer, **chunked) + parts)
                assert answer.startswith(b"HTTP/1.1 200"), answer
                assert await agent.counted() == before + 2

    asyncio.run(story())


JAVA = """
import java.net.URI;
import java.net.http.*;

class Send {
  public static void main(String[] words) throws Exception {
    HttpClient http = HttpClient.newHttpClient();
    for (int turn = 0; turn < 3; turn++) {
      for (boolean sized : new boolean[] {true, false}) {
        byte[] body = words[1].getBytes("UTF-8");
        HttpRequest.BodyPublisher sent = sized
            ? HttpRequest.BodyPublishers.ofByteArray(body)
            : HttpRequest.BodyPublishers.fromPublisher(HttpRequest.BodyPublishers.ofByteArray(body));
        HttpRequest request = HttpRequest.newBuilder(URI.create(words[0]))
            .header("Content-Type", "application/json").POST(sent).build();
        System.out.println(http.send(request, HttpResponse.BodyHandlers.ofString()).statusCode());
      }
    }
  }
}
"""


@in_turn(2)
def test_every_event_of_java_s_default_client_counts(tmp_path: Path) -> None:
    java = str(Path(program("java")).with_name("java"))
    (tmp_path / "Send.java").write_text(JAVA)

    async def story() -> None:
        async with running(tmp_path) as agent:
            words = [
                java,
                str(tmp_path / "Send.java"),
                f"{agent.address}/sna/v1/aa",
                json.dumps(EVENT),
            ]
            run = await asyncio.to_thread(
                subprocess.run, words, capture_output=True, text=True, check=True, timeout=120
            )
            assert run.stdout.split() == ["200"] * 6
            assert await agent.counted() == 6

    asyncio.run(story())


def test_no_page_reads_an_address_under_a_name_of_its_own(tmp_path: Path) -> None:
    async def story() -> None:
        async with running(tmp_path) as agent:
            ask = agent.http.get
            for path in STATE:
                assert (await ask(path)).status_code in {200, 503}
                for headers, status in (
                    ({"host": "evil.example"}, 421),
                    ({"origin": "https://evil.example"}, 403),
                    ({"sec-fetch-site": "cross-site"}, 403),
                ):
                    assert (await ask(path, headers=headers)).status_code == status, path

    asyncio.run(story())


def test_a_check_of_a_proxy_asks_without_a_host(tmp_path: Path) -> None:
    """As HAProxy's `option httpchk`; a browser always sends one."""

    async def story() -> None:
        async with running(tmp_path) as agent:
            assert b" 200 " in (await agent.raw(b"GET /livez HTTP/1.0\r\n\r\n"))[:15]
            assert b" 400 " in (await agent.raw(b"GET /livez HTTP/1.1\r\n\r\n"))[:15]

    asyncio.run(story())


def test_a_body_whose_end_two_readers_see_differently_is_refused_in_the_agent_s_words(
    tmp_path: Path,
) -> None:
    requests = [
        _head("/sna/v1/aa", Content_Length="5", Transfer_Encoding="chunked") + b"0\r\n\r\n",
        _head("/sna/v1/aa", Transfer_Encoding="gzip, chunked") + b"0\r\n\r\n",
        _head("/sna/v1/aa", Content_Length="+5") + b"12345",
        _head("/sna/v1/aa", Content_Length="1", X="x" * 20_000) + b"1",
    ]

    async def story() -> None:
        async with running(tmp_path) as agent:
            for request in requests:
                answer = await agent.raw(request)
                assert answer.split()[1] in {b"400", b"431"}, answer
                refused = json.loads(answer.partition(b"\r\n\r\n")[2])
                assert set(refused) == {"message", "errorCode"}
            assert await agent.counted() == 0

    asyncio.run(story())


def _field(number: int, content: bytes) -> bytes:
    length = bytearray()
    size = len(content)
    while size >= 0x80:
        length.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes((number << 3 | 2, *length, size)) + content


def _bombs() -> dict[str, tuple[str, dict[str, str], bytes]]:
    """Small bodies, each of which was something of hundreds of megabytes."""
    objects = b"{}," * (LARGE // 3 - 40)
    spans = b'{"resourceSpans":[{"scopeSpans":[{"spans":[' + objects + b"{}]}]}]}"
    attributes = (
        b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"kind":3,"attributes":['
        + objects
        + b"{}]}]}]}]}"
    )
    accounts = b'{"FIStatus":"READY"},' * 350_000 + b'{"FIStatus":"READY"}'
    notification = (
        b'{"callType":"requestIn","route":"/FI/Notification","peerId":"F","body":'
        b'{"FIStatusNotification":{"sessionId":"S","FIStatusResponse":[{"Accounts":['
        + accounts
        + b"]}]}}}"
    )
    text = '{"callType":"responseIn","route":"/FI/fetch","txnCorId":"k","httpStatus":200,"body":"'
    wide = (text + "\U0001f600" + "x" * (LARGE - 200) + '"}').encode()
    of_spans = _field(1, _field(2, b"\x12\x00" * (LARGE // 2 - 20)))
    of_scopes = _field(1, b"\x12\x00" * (LARGE // 2 - 20))
    of_attributes = _field(1, _field(2, _field(2, b"\x30\x03" + b"\x4a\x00" * (LARGE // 2 - 20))))
    return {
        "spans": ("/v1/traces", JSON, spans),
        "attributes": ("/v1/traces", JSON, attributes),
        "events": ("/sna/v1/aa", JSON, b"[" + objects + b"{}]"),
        "numbers": ("/sna/v1/aa", JSON, b"[" + b"0," * (LARGE // 2 - 20) + b"0]"),
        "arrays": ("/sna/v1/aa", JSON, b"[" + b"[]," * (LARGE // 3 - 20) + b"0]"),
        "accounts": ("/sna/v1/aa", JSON, notification),
        "wide text": ("/sna/v1/aa", JSON, wide),
        "protobuf spans": ("/v1/traces", PROTOBUF, of_spans),
        "protobuf scopes": ("/v1/traces", PROTOBUF, of_scopes),
        "protobuf attributes": ("/v1/traces", PROTOBUF, of_attributes),
    }


def test_what_is_made_of_bodies_stays_below_the_limit_of_the_shipped_unit(tmp_path: Path) -> None:
    unit = (ROOT / "deploy/systemd/mudra-agent.service").read_text()
    (most,) = (int(size) for size in re.findall(r"MemoryMax=(\d+)M", unit))
    bombs = _bombs()
    assert len(zstandard.compress(bombs["spans"][2])) < 7_000

    async def story() -> None:
        async with running(tmp_path, forked=False) as agent:

            async def send(name: str, packed: str) -> tuple[str, int]:
                path, headers, body = bombs[name]
                pack = {"gzip": gzip.compress, "zstd": zstandard.compress}[packed]
                sent = {**headers, "content-encoding": packed}
                answer = await agent.http.post(path, content=pack(body), headers=sent)
                return name, answer.status_code

            answers = await asyncio.gather(
                *(send(name, "zstd") for name in bombs),
                send("spans", "gzip"),
                _is_alive(agent),
            )
            peak = _peak(agent.pid)
        assert peak < most, f"{peak} MiB: {answers}"
        codes = dict(answers[:-1])
        assert codes.pop("wide text") == 200
        assert codes.pop("accounts") == 200
        assert set(codes.values()) == {413}, codes

    asyncio.run(story())


def _peak(pid: int) -> int:
    """MiB of memory that the process had at most."""
    spent = Path(f"/proc/{pid}/status").read_text()
    (kib,) = re.findall(r"VmHWM:\s+(\d+) kB", spent)
    return int(kib) // 1024


async def _is_alive(agent: Running) -> tuple[str, int]:
    """The agent answers others meanwhile, within a second."""
    slowest = 0.0
    for _ in range(20):
        begun = time.monotonic()
        assert (await agent.http.get("/livez")).status_code == 200
        slowest = max(slowest, time.monotonic() - begun)
        await asyncio.sleep(0.05)
    assert slowest < 3, slowest
    return "alive", 200


def test_a_status_written_as_a_double_is_that_status(tmp_path: Path) -> None:
    """F02, in both encodings, to the payload of the window."""

    async def story() -> None:
        async with running(tmp_path) as agent:
            answer = await agent.http.post(
                "/v1/traces", content=_spans(2).SerializeToString(), headers=PROTOBUF
            )
            assert answer.status_code == 200
            assert (
                ExportTraceServiceResponse.FromString(answer.content).partial_success.rejected_spans
                == 0
            )
            assert await agent.counted() == 2

    asyncio.run(story())
