"""The HTTP server of the agent: bounds, responses, and the agent's own state."""

import asyncio
import gc
import gzip
import json
import tracemalloc
import zlib

import httpx2
import pytest
import zstandard
from tests.support.depth import with_every_change
from tests.support.manual_clock import MovedClock

from mudra.agent.host.ingest_app import Health, IngestApp
from mudra.agent.host.intake_guard import IntakeGuard
from mudra.agent.sources.left_out import Reason
from mudra.agent.sources.route import SourceContext

MAX_BODY = 8 << 20

EVENT = {"callType": "requestOut", "route": "/Consent", "peerId": "FIP-1", "txnCorId": "k"}

OURS = IntakeGuard(("agent",))
PACKED = json.dumps(EVENT).encode()


def _ask(
    method: str,
    path: str,
    *,
    durable: bool = True,
    ready: bool = True,
    at_once: bool = False,
    guard: IntakeGuard = OURS,
    **more,
):
    recorded: list[object] = []

    async def record(events) -> bool:
        recorded.extend(events)
        return durable

    async def status() -> bytes:
        return b'{"running":true}'

    async def story() -> httpx2.Response:
        app = IngestApp(
            SourceContext(MovedClock()), record, "1.2.3",
            lambda: Health(ready, () if ready else ("nothing has been delivered",)),
            status, lambda: b"mudra_agent_events_total 1\n", at_once, guard,
        )  # fmt: skip
        transport = httpx2.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx2.AsyncClient(transport=transport, base_url="http://agent") as http:
            return await http.request(method, path, **more)

    return asyncio.run(story()), recorded


def test_ping_and_version_answer_as_the_agent_in_use_does() -> None:
    assert _ask("GET", "/sna/v1/ping")[0].json() == {"status": "up"}
    assert _ask("GET", "/sna/v1/version")[0].json() == {
        "agentVersion": "1.2.3",
        "name": "mudra-agent",
    }


def test_an_event_is_accepted_with_the_words_in_use() -> None:
    answer, recorded = _ask("POST", "/sna/v1/aa", json=EVENT)

    assert (answer.status_code, answer.json(), len(recorded)) == (200, {"message": "accepted"}, 1)
    assert "x-mudra-durable" not in answer.headers


def test_an_event_that_is_only_in_memory_is_accepted_and_says_so() -> None:
    assert (
        _ask("POST", "/sna/v1/aa", json=EVENT, durable=False)[0].headers["x-mudra-durable"] == "no"
    )
    assert (
        _ask("POST", "/sna/v1/aa", json=EVENT, at_once=True)[0].headers["x-mudra-durable"] == "no"
    )


def test_a_wrong_event_is_refused_with_message_and_code() -> None:
    answer, recorded = _ask("POST", "/sna/v1/aa", json={**EVENT, "callType": "x"})

    assert answer.status_code == 400
    assert set(answer.json()) == {"message", "errorCode"}
    assert not recorded


def test_of_an_array_the_valid_events_are_recorded_and_the_others_rejected() -> None:
    answer, recorded = _ask("POST", "/sna/v1/aa", json=[EVENT, {**EVENT, "callType": "x"}, 5])

    assert answer.status_code == 200
    assert [one["index"] for one in answer.json()["rejected"]] == [1, 2]
    assert len(recorded) == 1


@pytest.mark.parametrize("of", with_every_change(["route"], ["route", "method"]))
def test_paths_of_any_length_that_do_not_count_take_no_memory(of: str) -> None:
    """Anyone who reaches an AA chooses the paths of its calls: 20 MB of them are not kept."""
    context = SourceContext(MovedClock())

    async def record(_: object) -> bool:
        return True

    async def status() -> bytes:
        return b"{}"

    async def story() -> list[int]:
        app = IngestApp(
            context, record, "1.2.3", lambda: Health(ready=True), status, bytes,
            guard=OURS,
        )  # fmt: skip  # the parts in their order
        transport = httpx2.ASGITransport(app)  # type: ignore[arg-type]
        async with httpx2.AsyncClient(transport=transport, base_url="http://agent") as http:
            sent = ({**EVENT, of: f"/{place}" + "/x" * 50_000} for place in range(200))
            return [(await http.post("/sna/v1/aa", json=one)).status_code for one in sent]

    tracemalloc.start()
    try:
        codes = asyncio.run(story())
        gc.collect()  # requests and answers
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert set(codes) == {200}
    assert context.metrics.counts[Reason.OTHER_CALL] == 200
    assert kept < 4 << 20


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"[" + b" " * MAX_BODY + b"]", {}, 413),
        (gzip.compress(b"[" + b" " * MAX_BODY + b"]"), {"content-encoding": "gzip"}, 413),
        (gzip.compress(json.dumps(EVENT).encode()), {"content-encoding": "gzip"}, 200),
        (gzip.compress(json.dumps(EVENT).encode())[:-9], {"content-encoding": "gzip"}, 400),
        (b"no gzip", {"content-encoding": "gzip"}, 400),
        (gzip.compress(PACKED[:9]) + gzip.compress(PACKED[9:]), {"content-encoding": "gzip"}, 200),
        (gzip.compress(PACKED) + b"more", {"content-encoding": "gzip"}, 400),
        (zlib.compress(PACKED), {"content-encoding": "deflate"}, 200),
        (zlib.compress(PACKED)[2:-4], {"content-encoding": "deflate"}, 200),
        (zlib.compress(PACKED)[:-5], {"content-encoding": "deflate"}, 400),
        (zstandard.compress(PACKED), {"content-encoding": "zstd"}, 200),
        (zstandard.compress(PACKED[:9]) + zstandard.compress(PACKED[9:]), {"content-encoding": "zstd"}, 200),
        (zstandard.compress(PACKED)[:-1], {"content-encoding": "zstd"}, 400),
        (zstandard.compress(b"[" + b" " * MAX_BODY + b"]"), {"content-encoding": "zstd"}, 413),
        (b"\xef\xbb\xbf" + PACKED, {}, 200),
        (b"x", {"content-encoding": "br"}, 415),
        (b"{", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b"\xff\xfe", {}, 400),
        (b"", {}, 400),
    ],
    ids=["too long", "too long unpacked", "packed", "cut off", "not packed", "two members",
         "more behind it", "deflate", "raw deflate", "deflate cut off", "zstd", "two frames",
         "zstd cut off", "zstd too long", "byte order mark", "other packing",
         "half JSON", "too deep", "not UTF-8", "empty"],  # else gzip's time of making is in the names
)  # fmt: skip
def test_bodies_are_bounded_packed_and_unpacked(
    body: bytes, headers: dict[str, str], status: int
) -> None:
    headers = {"content-type": "application/json", **headers}
    answer, _ = _ask("POST", "/sna/v1/aa", content=body, headers=headers)

    assert answer.status_code == status


@pytest.mark.parametrize("path", ["/sna/v1/aa", "/v1/traces"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://agent"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"host": "evil.example"}, 421),
        ({"host": "agent.evil.example"}, 421),
        ({"host": "localhost.evil.example:4044"}, 421),
        ({"host": ""}, 421),
        ({"host": "[::1"}, 421),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"content-type": "multipart/form-data"}, 415),
        ({"content-type": ""}, 415),
        ({"host": "127.0.0.1:4044"}, 200),
        ({"host": "[::1]:4044"}, 200),
        ({"host": "LOCALHOST:4044"}, 200),
        ({"host": "agent:4044"}, 200),
        ({"content-type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_no_web_page_sends_events(path: str, headers: dict[str, str], status: int) -> None:
    """A page reaches the agent of its reader's machine, and a name can be made to lead there."""
    body = b"{}" if path == "/v1/traces" else json.dumps(EVENT).encode()
    all_headers = {"content-type": "application/json", **headers}
    answer, recorded = _ask("POST", path, content=body, headers=all_headers)

    assert answer.status_code == status
    assert status == 200 or not recorded


@pytest.mark.parametrize(
    ("sent", "status"),
    [("", 401), ("Bearer wrong", 401), ("Basic s3cret", 401), ("Bearer s3cret", 200),
     ("bearer s3cret", 200)],
)  # fmt: skip
def test_a_token_that_is_set_must_be_sent(sent: str, status: int) -> None:
    guard = IntakeGuard(("agent",), b"s3cret")
    headers = {"authorization": sent} if sent else {}
    answer, recorded = _ask("POST", "/sna/v1/aa", json=EVENT, headers=headers, guard=guard)

    assert (answer.status_code, len(recorded)) == (status, int(status == 200))
    assert "s3cret" not in repr(guard)
    assert _ask("GET", "/readyz", guard=guard)[0].status_code == 200
    assert answer.headers["content-type"] == "application/json"


def test_traces_need_a_media_type_of_otlp() -> None:
    assert _ask("POST", "/v1/traces", content=b"")[0].status_code == 415
    protobuf = {"content-type": "application/x-protobuf"}
    assert _ask("POST", "/v1/traces", content=b"", headers=protobuf)[0].status_code == 200
    assert _ask("POST", "/v1/traces", content=b"\xff\xff", headers=protobuf)[0].status_code == 400
    assert _ask("POST", "/v1/traces", json={})[0].json() == {}


@pytest.mark.parametrize("name", ["http.target", "url.path", "url.full", "http.url"])
@pytest.mark.parametrize(
    "address", ["//[://", "//\u2100://", "http://[/Consent", "https://a]b/Consent"]
)
def test_an_address_that_is_none_costs_no_other_span_of_its_batch(name: str, address: str) -> None:
    at = MovedClock().now * 1_000_000
    consent = {"http.request.method": "POST", "url.path": "/Consent", "aa.fip.id": "FIP-1"}
    spans = [
        {"kind": 3, "startTimeUnixNano": at, "endTimeUnixNano": at, "attributes": [
            {"key": key, "value": {"stringValue": value}} for key, value in one.items()
        ]}
        for one in (consent, {"http.request.method": "GET", name: address}, consent)
    ]  # fmt: skip

    answer, recorded = _ask(
        "POST", "/v1/traces", json={"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}
    )

    assert (answer.status_code, answer.json()) == (200, {})
    assert [call.code for call in recorded] == ["cns", "cns"]


def test_readiness_is_red_with_its_reasons() -> None:
    assert _ask("GET", "/readyz")[0].status_code == 200
    red, _ = _ask("GET", "/readyz", ready=False)
    assert red.status_code == 503
    assert red.json()["reasons"] == ["nothing has been delivered"]
    assert _ask("GET", "/livez", ready=False)[0].status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/sna/v1/aa", 405),
        ("DELETE", "/status", 405),
        ("GET", "/none", 404),
        ("GET", "/metrics", 200),
        ("GET", "/status", 200),
    ],
)
def test_other_methods_and_paths(method: str, path: str, status: int) -> None:
    assert _ask(method, path)[0].status_code == status


def test_a_packed_trace_that_is_cut_off_at_a_span_is_never_2xx() -> None:
    """What was not wholly read is not acknowledged, though its beginning is a valid message."""
    whole = b"\x0a\x00" * 5_000
    for name, pack in (("gzip", gzip.compress), ("zstd", zstandard.compress)):
        headers = {"content-type": "application/x-protobuf", "content-encoding": name}
        assert _ask("POST", "/v1/traces", content=pack(whole), headers=headers)[0].is_success
        cut = pack(whole)[:-2]
        assert _ask("POST", "/v1/traces", content=cut, headers=headers)[0].status_code == 400


def test_of_a_trace_what_is_wrong_costs_itself_and_is_said() -> None:
    at = str(MovedClock().now * 1_000_000)
    right = {
        "kind": 3, "startTimeUnixNano": at, "endTimeUnixNano": at, "name": 5, "attributes": [
            {"key": "http.request.method", "value": {"stringValue": "POST"}},
            {"key": "url.path", "value": {"stringValue": "/Consent"}},
            {"key": "aa.fip.id", "value": {"stringValue": "FIP-1"}},
            {"key": "seen", "value": {"stringValue": 7}},
            {"key": "http.response.status_code", "value": {"doubleValue": 200.0}},
        ],
    }  # fmt: skip  # a field and an attribute that no one reads are wrong
    wrong = {**right, "startTimeUnixNano": "soon"}
    spans = [right, wrong, 5, None, right]
    whole = {"resourceSpans": [{"scopeSpans": [{"spans": [right]}]}]}
    full, _ = _ask("POST", "/v1/traces", json=whole, durable=False)
    assert (full.status_code, full.headers["retry-after"]) == (503, "30")

    answer, recorded = _ask(
        "POST",
        "/v1/traces",
        json={"resourceSpans": [{"scopeSpans": [{"spans": spans}]}, {"scopeSpans": 7}]},
    )

    assert [call.status for call in recorded] == [200, 200]
    assert answer.status_code == 200
    partial = answer.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "4"
    assert "startTimeUnixNano" in partial["errorMessage"] or "scopeSpans" in partial["errorMessage"]


@pytest.mark.parametrize(
    "sent",
    [
        {"resource_spans": [{"scope_spans": [{"spans": [{}]}]}]},  # protobuf's own names
        {"resourceSpans": [{"instrumentationLibrarySpans": [{"spans": [{}]}]}]},  # before 0.15
        {"spans": [{}]},
        {"resourceSpans": [{"scopeSpans": [{"spans": []}]}]},
    ],
)
def test_a_request_with_something_but_a_span_is_answered_with_a_warning(
    sent: dict[str, object],
) -> None:
    answer, recorded = _ask("POST", "/v1/traces", json=sent)

    assert (answer.status_code, recorded) == (200, [])
    partial = answer.json()["partialSuccess"]
    assert partial["rejectedSpans"] == "0"
    assert "resourceSpans[].scopeSpans[].spans[]" in partial["errorMessage"]
    assert _ask("POST", "/v1/traces", json={})[0].json() == {}


@pytest.mark.parametrize("path", ["/sna/v1/aa/", "/readyz/", "/v1/traces/"])
def test_a_final_slash_is_no_other_address(path: str) -> None:
    method = "GET" if "readyz" in path else "POST"
    assert _ask(method, path, json=None if method == "GET" else {**EVENT})[0].status_code == 200
