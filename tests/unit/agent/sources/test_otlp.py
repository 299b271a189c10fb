"""Traces in protobuf and in JSON are read alike."""

import base64
import json

import pytest
from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.support.manual_clock import OUTBOUND, START, MovedClock

from mudra.agent.counting.event import Call, FiStatus, Notification
from mudra.agent.sources.left_out import Reason, Unreadable
from mudra.agent.sources.otlp import read_json, read_protobuf
from mudra.agent.sources.route import Peers, SourceContext

KEY = (b"t" * 16 + b"s" * 8).hex()


@pytest.fixture
def context() -> SourceContext:
    return SourceContext(
        MovedClock(START + 5_000), peers=Peers({"fip-1.test": "FIP-1", "fip-2.test:8443": "FIP-2"})
    )


def _request(
    attributes: dict[str, str | int], kind: int = 3, took: int = 120, start: int = START
) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add(
        kind=kind, trace_id=b"t" * 16, span_id=b"s" * 8, name="x",
        start_time_unix_nano=start * 1_000_000, end_time_unix_nano=(start + took) * 1_000_000,
    )  # fmt: skip
    for key, value in attributes.items():
        encoded = span.attributes.add(key=key).value
        if isinstance(value, int):
            encoded.int_value = value
        else:
            encoded.string_value = value
    return request


def _as_json(request: ExportTraceServiceRequest, *, enums: bool) -> bytes:
    document = MessageToDict(request, use_integers_for_enums=not enums)
    span = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    for name in ("traceId", "spanId"):
        span[name] = base64.b64decode(span[name]).hex()
    return json.dumps(document).encode()


def _read_all(request: ExportTraceServiceRequest, context: SourceContext) -> list[Call]:
    found = read_protobuf(request.SerializeToString(), context)
    assert read_json(_as_json(request, enums=False), context) == found
    assert read_json(_as_json(request, enums=True), context) == found
    assert found.unreadable == 0
    return found.calls


def test_a_client_span_is_a_call_to_a_fip(context: SourceContext) -> None:
    request = _request(
        {"http.request.method": "POST", "url.full": "https://fip-1.test/v2/Accounts/discover?x=1",
         "server.address": "fip-1.test", "server.port": 443, "http.response.status_code": 404}
    )  # fmt: skip

    assert _read_all(request, context) == [
        Call(OUTBOUND, "FIP-1", "adisc", START, 5_000_000 - 5_000, 120, 404, key=KEY)
    ]


def test_the_older_conventions_are_read_too(context: SourceContext) -> None:
    request = _request(
        {
            "http.method": "POST",
            "http.url": "https://fip-2.test:8443/Consent",
            "http.status_code": 200,
        }
    )

    (call,) = _read_all(request, context)
    assert (call.fip, call.code, call.status) == ("FIP-2", "cns", 200)


def test_a_server_span_is_a_notification_with_what_the_application_adds(
    context: SourceContext,
) -> None:
    request = _request(
        {"http.request.method": "POST", "url.path": "/FI/Notification", "http.response.status_code": 200,
         "aa.fip.id": "FIP-7", "aa.session.id": "S-1", "aa.fi.statuses": "READY,DENIED"}, kind=2,
    )  # fmt: skip

    (call,) = _read_all(request, context)
    assert call.inbound
    assert call.notification == Notification("S-1", FiStatus.READY | FiStatus.DENIED)


def test_a_span_without_a_status_had_no_answer(context: SourceContext) -> None:
    request = _request(
        {
            "http.request.method": "GET",
            "url.path": "/Heartbeat",
            "aa.fip.id": "FIP-1",
            "error.type": "timeout",
        }
    )

    (call,) = _read_all(request, context)
    assert call.status == 0


def test_the_size_of_a_fetch_is_the_packets_or_else_the_body(context: SourceContext) -> None:
    sent = {
        "http.request.method": "POST",
        "url.path": "/FI/fetch",
        "aa.fip.id": "FIP-1",
        "http.response.status_code": 200,
        "http.response.body.size": 900,
    }

    assert _read_all(_request(sent), context)[0].size == 900
    assert _read_all(_request({**sent, "aa.packet.bytes": 700}), context)[0].size == 700


@pytest.mark.parametrize(
    ("attributes", "kind", "reason"),
    [
        ({"http.request.method": "GET", "url.path": "/other"}, 3, Reason.OTHER_CALL),
        (
            {
                "http.request.method": "POST",
                "url.path": "/Consent",
                "server.address": "unknown.test",
            },
            3,
            Reason.UNKNOWN_PEER,
        ),
        (
            {"http.request.method": "POST", "url.path": "/Consent", "aa.fip.id": "a b"},
            3,
            Reason.UNKNOWN_PEER,
        ),
    ],
)
def test_spans_that_are_not_counted_are_noted(
    context: SourceContext, attributes: dict[str, str | int], kind: int, reason: Reason
) -> None:
    assert read_protobuf(_request(attributes, kind).SerializeToString(), context).calls == []
    assert context.metrics.counts[reason] == 1


@pytest.mark.parametrize("address", ["//[://", "//\u2100://", "https://[fip-1.test/Consent"])
def test_an_address_that_is_none_is_a_call_of_another_kind(
    context: SourceContext, address: str
) -> None:
    method = {"http.request.method": "POST"}
    server, client = (
        _request(method | {"url.path": address}, 2),
        _request(method | {"url.full": address}),
    )

    assert _read_all(server, context) == _read_all(client, context) == []
    assert context.metrics.counts[Reason.OTHER_CALL] == 6

    counted = method | {"url.path": "/Consent", "url.full": address}
    assert _read_all(_request(counted), context) == []
    assert context.metrics.counts[Reason.UNKNOWN_PEER] == 3


def test_internal_spans_are_not_looked_into(context: SourceContext) -> None:
    assert (
        _read_all(
            _request({"url.path": "/Consent", "http.request.method": "POST"}, kind=1), context
        )
        == []
    )


def test_spans_of_another_week_are_out_of_time(context: SourceContext) -> None:
    request = _request(
        {"http.request.method": "GET", "url.path": "/Heartbeat", "aa.fip.id": "F"},
        start=START - 8 * 86_400_000,
    )

    assert read_protobuf(request.SerializeToString(), context).calls == []
    assert context.metrics.counts[Reason.OUT_OF_TIME] == 1


@pytest.mark.parametrize("body", [b"\xff\xff", b"{", b'{"resourceSpans": 5}', b"[" * 9_000])
def test_garbage_is_refused(context: SourceContext, body: bytes) -> None:
    with pytest.raises(Unreadable):
        read_json(body, context)
    if body[:1] == b"\xff":
        with pytest.raises(Unreadable):
            read_protobuf(body, context)


@pytest.mark.parametrize("size", [1 << 41, -1])
def test_a_size_that_no_answer_can_have_is_not_counted(context: SourceContext, size: int) -> None:
    sent = {"http.request.method": "POST", "url.path": "/FI/fetch", "aa.fip.id": "FIP-1"}

    (call,) = _read_all(_request({**sent, "aa.packet.bytes": size}), context)

    assert call.size == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"endTimeUnixNano": "9" * 32},
        {"startTimeUnixNano": "9" * 32},
        {"endTimeUnixNano": 10**32},
    ],
)
def test_a_number_that_does_not_fit_its_field_refuses_its_span_alone(
    context: SourceContext, changes: dict[str, object]
) -> None:
    request = _request(
        {"http.request.method": "POST", "url.path": "/Consent", "aa.fip.id": "FIP-1"}
    )
    document = json.loads(_as_json(request, enums=False))
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    spans.append({**spans[0], **changes})

    found = read_json(json.dumps(document).encode(), context)

    assert (len(found.calls), found.unreadable) == (1, 1)
    assert context.metrics.unreadable == 1


@pytest.mark.parametrize("ids", [{"spanId": ""}, {"traceId": "dHQ="}, {"spanId": "73"}])
def test_a_span_without_two_ids_counts_and_has_no_key(
    context: SourceContext, ids: dict[str, str]
) -> None:
    request = _request(
        {"http.request.method": "POST", "url.path": "/Consent", "aa.fip.id": "FIP-1"}
    )
    document = json.loads(_as_json(request, enums=False))
    document["resourceSpans"][0]["scopeSpans"][0]["spans"][0].update(ids)

    (call,) = read_json(json.dumps(document).encode(), context).calls

    assert call.key == ""


def test_a_value_that_is_no_json_costs_at_most_its_span(context: SourceContext) -> None:
    """Python writes NaN, which is no JSON."""
    right = _as_json(_request({"http.request.method": "POST", "url.path": "/Consent",
                               "server.address": "fip-1.test", "ratio": 71}), enums=True)  # fmt: skip

    found = read_json(right.replace(b'"71"', b"NaN"), context)

    assert (len(found.calls), found.unreadable) == (1, 0)


def test_the_credentials_of_an_address_are_no_part_of_its_host(context: SourceContext) -> None:
    found = _read_all(
        _request({"http.request.method": "POST", "url.full": "https://u:pw@fip-1.test/Consent"}),
        context,
    )
    _read_all(
        _request({"http.request.method": "POST", "http.url": "https://u:pw@x/Consent"}), context
    )

    assert [call.fip for call in found] == ["FIP-1"]
    assert context.metrics.samples[Reason.UNKNOWN_PEER] == 'span: "x"'
