"""One bad element costs itself, whatever is wrong with it."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.support.depth import examples
from tests.support.manual_clock import START, MovedClock

from mudra.agent.sources.http_event import read_events
from mudra.agent.sources.left_out import Unreadable
from mudra.agent.sources.logs.access_log import LineReader
from mudra.agent.sources.logs.log_formats import FORMATS
from mudra.agent.sources.otlp import read_json, read_protobuf
from mudra.agent.sources.route import Peers, SourceContext
from mudra.agent.sources.tolerant_json import TooMuch
from mudra.shared.text.whole_number import whole_number
from mudra.shared.time_text import read_time

pytestmark = pytest.mark.deeper

ODD_VALUES: st.SearchStrategy[object] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
UNREAD = st.sampled_from(["customerId", "addlAttr", "user_agent", "x"])
EVENT = {"callType": "requestOut", "route": "/Consent", "peerId": "FIP-1", "peerType": "FIP"}
WORDS = [b"NaN", b"-Infinity", b"000", b"-", b"1e999", b"0.1s", b'"a\\x22b"', b'"\\u12"']
BREAKING: dict[str, st.SearchStrategy[object]] = {
    "callType": st.none() | st.integers() | st.just("other") | st.lists(st.integers()),
    "route": st.none() | st.integers() | st.lists(st.integers()),
    "peerId": st.none() | st.integers() | st.just("a b"),
    "timestamp": st.just("yesterday") | st.lists(st.integers()) | st.booleans(),
}


def _context() -> SourceContext:
    return SourceContext(MovedClock(), peers=Peers({"fip.test": "FIP-1"}))


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[bytes], int]:
    """Events as a program writes them, and how many of them are right."""
    sent: list[bytes] = []
    right = 0
    for number in range(draw(st.integers(1, 6))):
        event: dict[str, object] = {**EVENT, "txnCorId": f"k{number}"}
        event[draw(UNREAD)] = draw(ODD_VALUES)
        broken = draw(st.sampled_from(["", "", "bytes", "word", *BREAKING]))
        if broken in BREAKING:
            event[broken] = draw(BREAKING[broken])
        text = json.dumps(event).encode()
        if broken == "bytes":  # in a field that no one reads: it costs nothing
            odd = draw(
                st.sampled_from([b"\xff", b"\xc3", b"\x00", b"\\ud800", b"\x1f", b"\\udc00"])
            )
            text = text[:-1] + b',"seen":"' + odd + b'"}'
        if broken == "word":  # no JSON, as Python and the logs of proxies write it
            text = text[:-1] + b',"seen":' + draw(st.sampled_from(WORDS)) + b"}"
        sent.append(text)
        right += broken in {"", "bytes", "word"}
    return sent, right


@settings(max_examples=examples(20), deadline=None)
@given(batches())
def test_of_a_batch_each_right_event_counts(batch: tuple[list[bytes], int]) -> None:
    sent, right = batch

    events, rejected = read_events(b"[" + b",".join(sent) + b"]", _context())

    assert (len(events), len(rejected)) == (right, len(sent) - right)


def _span(request: ExportTraceServiceRequest, number: int) -> object:
    spans = request.resource_spans.add().scope_spans.add().spans
    span = spans.add(
        kind=3, trace_id=b"t" * 16, span_id=number.to_bytes(8, "big"), name="name-of-a-span",
        start_time_unix_nano=START * 10**6, end_time_unix_nano=(START + 90) * 10**6,
    )  # fmt: skip  # one group a line
    for key, value in (
        ("http.request.method", "POST"), ("url.path", "/Consent"), ("aa.fip.id", "FIP-1"),
        ("user.text", "what-nobody-reads"),
    ):  # fmt: skip  # pairs
        span.attributes.add(key=key).value.string_value = value
    return span


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(
        st.sampled_from(["right", "double", "text", "status", "name", "value", "cut"]),
        min_size=1,
        max_size=6,
    )
)
def test_of_a_protobuf_batch_each_right_span_counts(kinds: list[str]) -> None:
    parts: list[bytes] = []
    for number, kind in enumerate(kinds):
        request = ExportTraceServiceRequest()
        value = _span(request, number).attributes.add(key="http.response.status_code").value  # type: ignore[attr-defined]
        if kind == "double":
            value.double_value = 200.0
        elif kind == "text":
            value.string_value = "200"
        elif kind == "status":
            value.string_value = "two hundred"
        else:
            value.int_value = 200
        part = request.SerializeToString()
        if kind == "name":
            part = part.replace(b"name-of-a-span", b"name\xff\xfef-a-span")
        elif kind == "value":
            part = part.replace(b"what-nobody-reads", b"what\xff\xfeobody-reads")
        elif kind == "cut":  # a length that leads out of its span
            part = part.replace(b"\x0ename-of-a-span", b"\x7fname-of-a-span")
        parts.append(part)

    found = read_protobuf(b"".join(parts), _context())

    wrong = sum(kind in {"status", "cut"} for kind in kinds)
    assert (len(found.calls), found.unreadable) == (len(kinds) - wrong, wrong)
    assert {call.status for call in found.calls} <= {200}


@settings(max_examples=examples(50), deadline=None)
@given(
    st.binary(max_size=300)
    | st.text(max_size=200).map(str.encode)
    | ODD_VALUES.map(lambda one: json.dumps(one).encode())
)
def test_no_bytes_end_a_reader(body: bytes) -> None:
    for read in (read_events, read_json, read_protobuf):
        try:
            read(body, _context())
        except (Unreadable, TooMuch):
            continue
    for fields in FORMATS.values():
        LineReader(fields, _context(), inbound=False).calls(body.split(b"\n"))


@settings(max_examples=examples(33), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(
            ["resourceSpans", "scopeSpans", "spans", "attributes", "key", "value", "kind"]
        ),
        ODD_VALUES,
        max_size=4,
    ),
    ODD_VALUES,
)
def test_a_wrong_level_of_a_json_trace_costs_itself(part: dict[str, object], odd: object) -> None:
    good = {
        "kind": 3, "traceId": "0a" * 16, "spanId": "0b" * 8,
        "startTimeUnixNano": str(START * 10**6), "endTimeUnixNano": START * 10**6,
        "attributes": [
            {"key": "http.request.method", "value": {"stringValue": "POST"}},
            {"key": "url.path", "value": {"stringValue": "/Consent"}},
            {"key": "aa.fip.id", "value": {"stringValue": "FIP-1"}},
            {"key": "http.response.status_code", "value": {"doubleValue": 200}},
        ],
    }  # fmt: skip  # one span
    text = json.dumps(
        {"resourceSpans": [part, {"scopeSpans": [odd, {"spans": [odd, part, good]}]}, odd]}
    )
    calls = read_json(text.encode(), _context()).calls

    assert [call.status for call in calls if call.key] == [200]


@given(st.integers(-(10**20), 10**20), st.integers(0, 6))
def test_a_whole_number_is_read_in_each_spelling(number: int, zeros: int) -> None:
    texts = [
        f"{number}",
        f"{number}.{'0' * zeros}",
        f"{number * 10**zeros}e-{zeros}",
        f" {number} ",
    ]
    texts.append(f"{number}e{zeros}")

    found = [whole_number(text) for text in texts]

    assert found == [number] * 4 + [number * 10**zeros]
    assert whole_number(f"{number}.5") is None


@given(
    st.datetimes(timezones=st.just(UTC)).filter(lambda at: 1000 < at.year < 9999),
    st.integers(-1439, 1439),
    st.sampled_from("Tt "),
)
def test_an_instant_is_read_in_each_zone_and_spelling(
    at: datetime, minutes: int, between: str
) -> None:
    local = at.astimezone(timezone(timedelta(minutes=minutes)))
    texts = [
        local.isoformat(between), local.isoformat(between).replace("+", " +"),
        at.isoformat(between).replace("+00:00", "z"), at.isoformat(between),
    ]  # fmt: skip  # with and without an offset

    assert {read.at for text in texts if (read := read_time(text))} == {at}
    if not at.second and not at.microsecond:
        assert read_time(at.strftime("%Y-%m-%dT%H:%MZ")) == (at, timedelta(0))
