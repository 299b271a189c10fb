"""Lines of nginx, Envoy and HAProxy."""

import json

import msgspec
import pytest
from tests.support.manual_clock import START, MovedClock

from mudra.agent.counting.event import FiStatus, Notification
from mudra.agent.sources.left_out import Reason
from mudra.agent.sources.logs.access_log import LineReader
from mudra.agent.sources.logs.log_formats import FORMATS, renamed
from mudra.agent.sources.route import Peers, SourceContext

NGINX = {
    "time": "1775037600.500",
    "method": "POST",
    "uri": "/v2/FI/fetch?a=b",
    "host": "fip-1.test",
    "status": 200,
    "request_time": "0.250",
    "bytes": 77,
    "upstream_status": "200",
    "upstream_header_time": "0.240",
}
ENVOY = {
    "start_time": "2026-04-01T10:00:00.250Z",
    "duration": 250,
    "method": "POST",
    "path": "/v2/FI/fetch",
    "authority": "fip-1.test:443",
    "response_code": 200,
    "bytes_sent": 77,
    "response_flags": "-",
    "response_code_details": "via_upstream",
}
HAPROXY = {
    "time": 1775037600500,
    "ta": 250,
    "method": "POST",
    "path": "/FI/Fetch",
    "host": "fip-1.test",
    "status": "200",
    "bytes": 77,
    "termination_state": "--",
}
KONG = {
    "started_at": 1775037600250,
    "request": {"method": "POST", "uri": "/v2/FI/fetch?a=b"},
    "response": {"status": 200, "size": 77},
    "latencies": {"request": 250, "kong": 10, "proxy": 240},
    "service": {"host": "fip-1.test"},
    "upstream_status": "200",
    "source": "upstream",
}
APIGEE = {
    "time": "1775037600250",
    "target_received": "1775037600500",
    "method": "POST",
    "path": "/FI/fetch",
    "host": "fip-1.test",
    "status": "200",
    "bytes": "77",
}
LINES = {"nginx": NGINX, "envoy": ENVOY, "haproxy": HAPROXY, "kong": KONG, "apigee": APIGEE}


def _reader(kind: str, *, inbound: bool = False, **names: str) -> LineReader:
    context = SourceContext(MovedClock(START + 5_000), peers=Peers({"fip-1.test": "FIP-1"}))
    return LineReader(renamed(FORMATS[kind], names), context, inbound=inbound)


def _line(kind: str, **changes: object) -> bytes:
    return json.dumps({**LINES[kind], **changes}).encode()


@pytest.mark.parametrize(
    "prefix",
    [
        "<134>1 2026-11-29T20:00:00Z host nginx 12 - - ",
        "<134>1 2026-11-29T20:00:00Z host nginx 12 - - \ufeff",
        "Nov 29 20:00:00 host nginx[12]: @cee: ",
        "2026-11-29T20:00:00.000000001Z stdout F ",
    ],
)
def test_a_line_behind_the_words_of_a_log_service_counts(prefix: str) -> None:
    reader = _reader("nginx")

    assert len(reader.calls([prefix.encode() + _line("nginx")])) == 1


@pytest.mark.parametrize("kind", list(FORMATS))
@pytest.mark.parametrize("address", ["//[://", "//\u2100://", "https://[fip-1.test/x"])
def test_an_address_that_is_none_costs_no_other_line(kind: str, address: str) -> None:
    lines = [
        _line(kind, **{FORMATS[kind].path: address}),
        _line(kind, **{FORMATS[kind].host: address}),
        _line(kind),
    ]  # a name with dots may be the name of one field too

    assert len(_reader(kind).calls(lines)) == 1


@pytest.mark.parametrize("kind", list(FORMATS))
def test_every_format_gives_the_same_call(kind: str) -> None:
    (call,) = _reader(kind).calls([_line(kind)])

    assert (call.fip, call.code, call.wall, call.duration, call.status, call.size) == (
        "FIP-1",
        "fif",
        START + 250,
        250,
        200,
        77,
    )
    assert call.mono == 5_000_000 - 4_750


@pytest.mark.parametrize("kind", list(FORMATS))
@pytest.mark.parametrize("prefix", [b"\0" * 9, b"\xef\xbb\xbf", b"\xef\xbb\xbf "])
def test_a_line_behind_a_hole_of_zeros_or_a_mark_counts(kind: str, prefix: bytes) -> None:
    reader = _reader(kind)

    (call,) = reader.calls([prefix + _line(kind)])

    assert (call.fip, call.status) == ("FIP-1", 200)


@pytest.mark.parametrize(
    ("kind", "changes", "status"),
    [
        # no answer came: connection refused, time-out, no name, no live upstream
        ("nginx", {"status": 504, "upstream_status": "504", "upstream_header_time": "-"}, 0),
        ("nginx", {"status": 504, "upstream_status": "504", "upstream_header_time": ""}, 0),
        ("nginx", {"status": 502, "upstream_status": "-"}, 0),
        ("nginx", {"status": 502, "upstream_status": "", "upstream_header_time": ""}, 0),
        ("nginx", {"status": 502, "upstream_status": "502, 502", "upstream_header_time": "0.2, -"}, 0),
        ("nginx", {"status": 502, "upstream_status": "502", "upstream_header_time": None}, 0),
        # nginx answered by a rule of its own
        ("nginx", {"status": 403, "upstream_status": "", "upstream_header_time": ""}, 0),
        ("nginx", {"status": 413, "upstream_status": "-", "upstream_header_time": "-"}, 0),
        ("nginx", {"status": 200, "upstream_status": "", "upstream_header_time": ""}, 0),
        ("nginx", {"status": 499}, 0),
        ("nginx", {"status": "000", "upstream_status": ""}, 0),
        # the FIP's own, also where nginx sent another on
        ("nginx", {"status": 504, "upstream_status": "504", "upstream_header_time": "1.0"}, 504),
        ("nginx", {"status": 502, "upstream_status": "502, 502", "upstream_header_time": "-, 0.2"}, 502),
        ("nginx", {"status": 200, "upstream_status": "502, 200", "upstream_header_time": "-, 0.2"}, 200),
        ("nginx", {"status": 200, "upstream_status": "302 : 404", "upstream_header_time": "0.1 : 0.2"}, 404),
        ("nginx", {"status": 500, "upstream_status": 500, "upstream_header_time": 0.1}, 500),
        ("nginx", {"status": 200, "upstream_status": "429"}, 429),
        ("nginx", {"status": 200.0, "upstream_status": "200.0"}, 200),
        ("envoy", {"response_code": 504, "response_flags": "UT", "response_code_details": "upstream_response_timeout"}, 0),
        ("envoy", {"response_code": 503, "response_flags": "UF,URX", "response_code_details": None}, 0),
        ("envoy", {"response_code": 0, "response_flags": "DC", "response_code_details": "downstream_remote_disconnect"}, 0),
        ("envoy", {"response_code": 403, "response_code_details": "rbac_access_denied_matched_policy[none]"}, 0),
        ("envoy", {"response_code": 401, "response_code_details": "jwt_authn_access_denied{Jwt_is_missing}"}, 0),
        ("envoy", {"response_code": 200, "response_code_details": "direct_response"}, 0),
        ("envoy", {"response_code": 429, "response_flags": "RL", "response_code_details": "request_rate_limited"}, 0),
        ("envoy", {"response_code": 503, "response_code_details": None}, 0),
        ("envoy", {"response_code": 503, "response_code_details": None, "upstream_host": "-"}, 0),
        ("envoy", {"response_code": 200, "response_code_details": None, "upstream_host": None}, 0),
        ("envoy", {"response_code": 503, "response_code_details": None, "upstream_host": "10.0.0.1:443"}, 503),
        ("envoy", {"response_code": 503, "response_code_details": None, "upstream_service_time": "12"}, 503),
        ("envoy", {"response_code": 503, "response_flags": "URX"}, 503),
        ("envoy", {"response_code": 503}, 503),
        ("haproxy", {"status": 504, "termination_state": "sH"}, 0),
        ("haproxy", {"status": 503, "termination_state": "SC"}, 0),
        ("haproxy", {"status": -1, "termination_state": "CH"}, 0),
        ("haproxy", {"status": 403, "termination_state": "PR"}, 0),
        ("haproxy", {"status": 502, "termination_state": "PH--"}, 0),
        ("haproxy", {"status": 200, "termination_state": "LR--"}, 0),
        ("haproxy", {"status": 429, "termination_state": "PT"}, 0),
        ("haproxy", {"status": 500, "termination_state": "IH"}, 0),
        ("haproxy", {"status": 503, "server": "<NOSRV>"}, 0),
        ("haproxy", {"status": 503, "tr": -1}, 0),
        ("haproxy", {"status": 200, "termination_state": None}, 0),
        ("haproxy", {"status": 200, "termination_state": "cD"}, 200),
        ("haproxy", {"status": 503, "tr": 12, "server": "fip/one"}, 503),
        ("haproxy", {"status": 503}, 503),
        ("kong", {"response.status": 503, "source": "kong", "upstream_status": None}, 0),
        ("kong", {"response.status": 429, "source": "exit", "latencies.proxy": -1}, 0),
        ("kong", {"response.status": 502, "source": None, "upstream_status": "502", "latencies": {"request": 3, "proxy": -1}}, 0),
        ("kong", {"response.status": 504, "source": None, "upstream_status": "504", "latencies.proxy": None, "latencies": {"request": 3}}, 0),
        ("kong", {"response.status": 404, "upstream_status": "404"}, 404),
        ("kong", {"response.status": 502, "upstream_status": "502"}, 502),
        ("apigee", {"status": 503, "target_received": ""}, 0),
        ("apigee", {"status": 429, "target_received": None}, 0),
        ("apigee", {"status": 404}, 404),
    ],
)  # fmt: skip
def test_a_status_that_the_proxy_made_is_no_answer_of_the_fip(
    kind: str, changes: dict[str, object], status: int
) -> None:
    (call,) = _reader(kind).calls([_line(kind, **changes)])

    assert call.status == status


def test_a_notification_takes_session_and_statuses_from_members_that_may_be_renamed() -> None:
    reader = _reader("nginx", inbound=True, session="sid", statuses="st", fip="from")
    line = _line(
        "nginx", uri="/FI/Notification", sid="S-1", st="READY,TIMEOUT", **{"from": "FIP-9"}
    )

    (call,) = reader.calls([line])

    assert call.fip == "FIP-9"
    assert call.notification == Notification("S-1", FiStatus.READY | FiStatus.TIMEOUT)


@pytest.mark.parametrize(
    "line",
    [
        b"no json",
        b"{}",
        b'{"time": null}',
        b'{"time":"x","method":"POST"}',
        b"[1]",
        b'{"time": 1e999}',
        b"\xff",
        b'{"time":[1]}',
        _line("nginx", request_time="abc"),
    ],
)
def test_a_line_that_cannot_be_read_is_counted_and_stops_nothing(line: bytes) -> None:
    reader = _reader("nginx")

    calls = reader.calls([line, b"", _line("nginx")])

    assert len(calls) == 1
    assert reader._context.metrics.unreadable == 1


@pytest.mark.parametrize("unread", [b"NaN", b"-Infinity", b"007", b"-", b"1e999", b'"\\x22"'])
def test_a_value_that_is_no_json_costs_nothing_where_no_one_reads_it(unread: bytes) -> None:
    """As programs write it that put values between quotes of their own."""
    reader = _reader("nginx")

    (call,) = reader.calls([_line("nginx")[:-1] + b',"seen":' + unread + b',"so":[1]}'])

    assert (call.code, call.status, reader._context.metrics.unreadable) == ("fif", 200, 0)


@pytest.mark.parametrize(
    ("written", "statuses"), [(b"000", [0]), (b"NaN", []), (b"1e999", []), (b"0200", [200])]
)
def test_a_number_as_a_proxy_writes_it_is_that_number(written: bytes, statuses: list[int]) -> None:
    """nginx writes the status 000 where it sent none."""
    line = _line("nginx").replace(b'"status": 200', b'"status": ' + written)
    assert written in line

    assert [call.status for call in _reader("nginx").calls([line])] == statuses


@pytest.mark.parametrize("time", [" 2026-04-01T10:00:00.250Z", "2026-04-01T10:00:00.250Z "])
def test_blanks_around_a_time_are_not_of_it(time: str) -> None:
    reader = _reader("nginx")

    reader.calls([_line("nginx", time=time)])

    assert reader._context.metrics.counts[Reason.BAD_TIME] == 0


WHEN = "2026-04-01T10:00:00.250Z"
OTHERS = {
    "Docker": {"log": _line("nginx").decode(), "stream": "stdout", "time": WHEN},
    "Traefik": {
        "time": WHEN,
        "RequestMethod": "POST",
        "RequestPath": "/FI/fetch",
        "OriginStatus": 200,
    },
    "application": {"time": WHEN, "level": "info", "msg": "POST /FI/fetch 200"},
}


@pytest.mark.parametrize("writer", OTHERS)
def test_json_of_another_form_is_unreadable_and_no_call_of_another_kind(writer: str) -> None:
    """Counted as another call it would look healthy, and no call to a FIP would ever count."""
    reader = _reader("nginx")

    calls = reader.calls([json.dumps(OTHERS[writer]).encode(), _line("nginx", uri="")])

    metrics = reader._context.metrics
    assert calls == []
    assert (metrics.unreadable, metrics.counts[Reason.OTHER_CALL]) == (1, 1)
    assert metrics.samples[Reason.BAD_FIELD] == "line: it has no field uri"


def test_numbers_that_nothing_can_hold_are_bounded() -> None:
    (call,) = _reader("envoy").calls([_line("envoy", duration=1e300, bytes_sent=10**30)])

    assert call.size == 0
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(call))


def test_a_call_that_ended_and_took_for_ever_is_left_out() -> None:
    reader = _reader("haproxy")

    assert reader.calls([_line("haproxy", ta=1e300, bytes=10**30)]) == []
    assert reader._context.metrics.counts[Reason.OUT_OF_TIME] == 1
