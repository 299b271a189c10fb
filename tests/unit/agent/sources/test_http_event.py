"""Events in the shape in use today."""

import json

import msgspec
import pytest
from tests.support.manual_clock import INBOUND, OUTBOUND, START, MovedClock

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import CallEnded, CallStarted, FiStatus, Notification
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.window import Windows
from mudra.agent.sources.http_event import read_events
from mudra.agent.sources.left_out import Reason
from mudra.agent.sources.route import SourceContext

FETCHED = {"callType": "responseIn", "route": "/FI/fetch", "httpStatus": 200}


@pytest.fixture
def context() -> SourceContext:
    return SourceContext(MovedClock())


def _event(**changes: object) -> dict[str, object]:
    return {
        "callType": "requestOut", "route": "/v2/FI/request", "peerId": "FIP-1", "peerType": "FIP",
        "customerId": "someone@aa", "txnCorId": "k1", "addlAttr": {}, "body": None, **changes,
    }  # fmt: skip


def _read(context: SourceContext, sent: object):
    return read_events(json.dumps(sent).encode(), context)


def test_a_single_event_and_an_array_are_read_alike(context: SourceContext) -> None:
    single, _ = _read(context, _event())
    several, _ = _read(context, [_event()])

    assert single == several == [CallStarted("k1", OUTBOUND, "FIP-1", "fireq", START, 5_000_000)]


def test_the_session_is_read_from_the_answer_of_an_fi_request(context: SourceContext) -> None:
    body = {"ver": "2.0.0", "consentId": "c", "sessionId": "S-9"}

    events, _ = _read(context, _event(callType="responseIn", httpStatus=200, body=body))

    assert events == [CallEnded("k1", OUTBOUND, START, 5_000_000, 200, 0, "S-9")]


@pytest.mark.parametrize("wrap", [lambda body: body, json.dumps])
def test_a_notification_is_read_from_its_body_as_object_or_text(
    context: SourceContext, wrap
) -> None:
    body = {
        "timestamp": "2026-04-01T10:00:01.500Z", "Notifier": {"type": "FIP", "id": "FIP-1"},
        "FIStatusNotification": {
            "sessionId": "S-1", "sessionStatus": "ACTIVE",
            "FIStatusResponse": [{"fipID": "FIP-1", "Accounts": [
                {"linkRefNumber": "a", "FIStatus": "READY"}, {"linkRefNumber": "b", "FIStatus": "PENDING"}]}],
        },
    }  # fmt: skip

    events, _ = _read(
        context, _event(callType="requestIn", route="/FI/Notification", body=wrap(body))
    )

    notification = Notification("S-1", FiStatus.READY | FiStatus.PENDING, START + 1_500)
    assert events == [CallStarted("k1", INBOUND, "FIP-1", "finot", START, 5_000_000, notification)]


def test_the_size_of_fetched_packets_is_that_of_the_encrypted_texts(context: SourceContext) -> None:
    body = {
        "FI": [{"fipID": "FIP-1", "data": [{"encryptedFI": "x" * 700}, {"encryptedFI": "y" * 50}]}]
    }

    events, _ = _read(
        context, _event(callType="responseIn", route="/FI/Fetch", httpStatus="200", body=body)
    )

    assert isinstance(events[0], CallEnded)
    assert events[0].size == 750


def test_the_bytes_of_packets_may_be_sent_in_place_of_the_packets(context: SourceContext) -> None:
    fetched = {"callType": "responseIn", "route": "/FI/Fetch", "httpStatus": 200}

    events, _ = _read(context, _event(**fetched, packetBytes=750))

    assert isinstance(events[0], CallEnded)
    assert events[0].size == 750


@pytest.mark.parametrize("status", [None, "", 0])
def test_a_response_without_a_status_is_a_transport_failure(
    context: SourceContext, status: object
) -> None:
    events, _ = _read(context, _event(callType="responseIn", httpStatus=status, body=None))

    assert isinstance(events[0], CallEnded)
    assert events[0].status == 0


def test_a_timestamp_gives_halves_that_come_together_their_duration(context: SourceContext) -> None:
    sent = [
        _event(timestamp="2026-04-01T09:59:58Z"),
        _event(callType="responseIn", httpStatus=200, timestamp=START - 500),
    ]

    (started, ended), _ = _read(context, sent)

    assert ended.mono - started.mono == 1_500
    assert started.wall == START - 2_000


@pytest.mark.parametrize(
    "changes",
    [{"peerType": "FIU"}, {"route": "/elsewhere"}, {"callType": "requestIn", "route": "/Consent"}],
)
def test_calls_that_no_type_counts_are_only_noted(
    context: SourceContext, changes: dict[str, object]
) -> None:
    events, rejected = _read(context, _event(**changes))

    assert (events, rejected) == ([], [])
    assert context.metrics.counts[Reason.OTHER_CALL] == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"callType": "other"}, "callType must be one of"),
        ({"peerId": "a b"}, "peerId must be an entity ID"),
        ({"peerId": ""}, "peerId must be an entity ID"),
        ({"callType": "responseIn", "txnCorId": "", "peerId": ""}, "peerId must be an entity ID"),
        ({"txnCorId": "x" * 129}, "txnCorId must be"),
        ({"callType": "responseIn", "httpStatus": 99}, "httpStatus must be"),
        ({"callType": "responseIn", "httpStatus": "2x"}, "httpStatus must be"),
        ({"timestamp": "yesterday"}, "timestamp must be"),
        ({"timestamp": "2026-03-01T00:00:00Z"}, "timestamp must lie"),
        ({"timestamp": "2026-04-01T10:02:00Z"}, "timestamp must lie"),
        ({**FETCHED, "packetBytes": -1}, "packetBytes must be"),
        ({**FETCHED, "packetBytes": 2**41}, "packetBytes must be"),
        ({"route": 5}, "route"),
    ],
)
def test_an_invalid_event_is_rejected_with_its_reason_and_stops_no_other(
    context: SourceContext, changes: dict[str, object], message: str
) -> None:
    events, rejected = _read(context, [_event(), _event(**changes), _event(txnCorId="k2")])

    assert len(events) == 2
    assert rejected[0].index == 1
    assert message in rejected[0].message


@pytest.mark.parametrize("body", [b"", b"{", b"[", b"\xff", b"[1,", b"nul"])
def test_a_body_that_is_no_json_is_refused_whole(context: SourceContext, body: bytes) -> None:
    with pytest.raises((msgspec.DecodeError, ValueError)):
        read_events(body, context)


def _pair(txnid: str, **response: object):
    """A call without `txnCorId` and its response, as older guides and SDKs send them."""
    request = {
        key: value for key, value in _event(body={"txnid": txnid}).items() if key != "txnCorId"
    }
    return request, {
        **request,
        "callType": "responseIn",
        "httpStatus": 200,
        "body": {"txnid": txnid},
        **response,
    }


def _counts(context: SourceContext, *events: object, code: str = "fireq") -> list[int]:
    """What is counted of these events, sent one after the other."""
    counter = Counter(Windows(), FiSessionTracker())
    for event in events:
        read, rejected = _read(context, event)
        assert not rejected
        counter.apply(read)
    return counter.close(START).requests["FIP-1", code].counts


@pytest.mark.parametrize(("words", "read"), [(50_000, 2), (350_000, 1)])
def test_words_that_json_does_not_have_are_read_to_a_bound(
    context: SourceContext, words: int, read: int
) -> None:
    """Millions of them would take seconds of the agent."""
    right = json.dumps(_event())
    wrong = right.replace('"body": null', '"body": {"a": [' + "NaN," * words + "1]}")

    events, _ = read_events(f"[{right},{wrong}]".encode(), context)

    assert len(events) == read


def test_a_body_of_texts_without_commas_is_as_much_as_one_with_them(context: SourceContext) -> None:
    with pytest.raises(ValueError, match="at most 400000 values"):
        read_events(b'[{"callType": 1}, {"a": [' + b'"" ' * 900_000 + b"]}]", context)


def test_events_without_a_correlation_id_are_paired_by_peer_route_and_txnid(
    context: SourceContext,
) -> None:
    first, first_response = _pair("t-1", httpStatus=404)
    second, second_response = _pair("t-2")

    counts = _counts(context, first, second, second_response, first_response)

    assert counts == [2, 1, 0, 0, 0, 1, *[0] * 9]


def test_a_response_without_txnid_ends_the_oldest_call_of_its_peer_and_route(
    context: SourceContext,
) -> None:
    first, response = _pair("t-1", httpStatus=500, body="<html>")
    second, _ = _pair("t-2")
    heartbeat = {"callType": "requestOut", "route": "/Heartbeat", "peerId": "FIP-1"}
    answered = {**heartbeat, "callType": "responseIn", "httpStatus": 200}

    assert _counts(context, first, second, response)[:2] == [2, 0]
    assert _counts(context, first, second, response)[10] == 1
    assert _counts(context, heartbeat, answered, heartbeat, answered, code="hbt")[:2] == [2, 2]


def test_a_transport_failure_without_a_correlation_id_ends_no_other_call(
    context: SourceContext,
) -> None:
    first, _ = _pair("t-1")
    second, response = _pair("t-2")
    failure = {**response, "httpStatus": None, "body": None}

    assert _counts(context, first, second, failure, response)[:2] == [2, 1]


def test_a_notification_without_a_correlation_id_is_paired_by_its_txnid(
    context: SourceContext,
) -> None:
    request, response = _pair("t-1")
    change = {"route": "/Account/link/Notification"}
    counter = Counter(Windows(), FiSessionTracker())
    for event in (
        {**request, **change, "callType": "requestIn"},
        {**response, **change, "callType": "responseOut"},
    ):
        counter.apply(_read(context, event)[0])

    assert counter.close(START).notifications["FIP-1", "alnot"].counts[:2] == [1, 1]
