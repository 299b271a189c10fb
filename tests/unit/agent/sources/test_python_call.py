"""The call, the httpx2 transport and the ASGI middleware, against the agent's own reader."""

import asyncio
import json
import subprocess
import sys

import httpx2
import pytest
from tests.support.manual_clock import MovedClock
from tests.unit.forked_child import says_yes

from mudra.agent.counting.event import CallEnded, CallStarted, FiStatus
from mudra.agent.sources.http_event import read_events
from mudra.agent.sources.middleware import ReportingApp, ReportingTransport
from mudra.agent.sources.python_call import Reporter
from mudra.agent.sources.route import SourceContext

MAX_BODY = 1 << 20
MAX_QUEUED = 10_000
MAX_QUEUED_BYTES = 16 << 20


class RecordingAgent:
    """An agent that records what it receives."""

    def __init__(self, clock: MovedClock, *refusals: int, largest: int = 8 << 20) -> None:
        self.events: list[CallStarted | CallEnded] = []
        self.requests = 0
        self._refusals, self._largest = list(refusals), largest
        self._context = SourceContext(clock)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests += 1
        if len(request.content) > self._largest:
            return httpx2.Response(413)
        if self._refusals:
            return httpx2.Response(self._refusals.pop(0))
        events, rejected = read_events(request.content, self._context)
        assert not rejected
        self.events += events
        return httpx2.Response(200, json={"message": "accepted"})


def _reporter(agent: RecordingAgent, clock: MovedClock) -> Reporter:
    return Reporter("http://agent", httpx2.Client(transport=httpx2.MockTransport(agent)), clock)


def test_a_call_reaches_the_agent_with_its_duration_and_session() -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock)
    reporter = _reporter(agent, clock)

    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200, session="S-1")
    reporter.close()

    started, ended = agent.events
    assert isinstance(ended, CallEnded)
    assert ended.mono - started.mono == 180
    assert (ended.status, ended.session) == (200, "S-1")
    assert reporter.metrics.sent == 2


def test_what_the_agent_does_not_accept_is_dropped_and_its_reason_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def half(_: httpx2.Request) -> httpx2.Response:
        rejected = [{"index": 1, "message": "peerId is missing"}]
        return httpx2.Response(200, json={"message": "accepted", "rejected": rejected})

    http = httpx2.Client(transport=httpx2.MockTransport(half))
    reporter = Reporter("http://agent", http, MovedClock())

    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200)
    reporter.close()

    assert (reporter.metrics.sent, reporter.metrics.dropped) == (1, 1)
    assert "1 events were not reported: the agent did not accept them: peerId" in caplog.text


@pytest.mark.parametrize("answer", [b"", b"accepted", b'{"rejected":"\xff"}', b"[" * 100_000])
def test_an_answer_that_names_nothing_is_a_yes(answer: bytes) -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(200, content=answer))
    reporter = Reporter("http://agent", httpx2.Client(transport=transport), MovedClock())

    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200)
    reporter.close()

    assert (reporter.metrics.sent, reporter.metrics.dropped) == (2, 0)


def sessions(agent: RecordingAgent) -> list[str]:
    return [one.session for one in agent.events if isinstance(one, CallEnded)]


def test_a_forked_process_reports_its_own_calls_alone() -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock)
    reporter = _reporter(agent, clock)

    def reported() -> bool:
        agent.events.clear()
        reporter.call("FIP-1", "/FI/request", took_ms=180, status=200, session="of the child")
        reporter.close()
        return sessions(agent) == ["of the child"]

    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200, session="of the parent")
    assert says_yes(reported)
    reporter.close()

    assert sessions(agent) == ["of the parent"]


def test_a_call_after_the_end_is_counted_as_dropped() -> None:
    reporter = _away()
    reporter.close()

    reporter.call("FIP-1", "/FI/request", took_ms=180, status=200)

    assert reporter.metrics.dropped == 2


def _away() -> Reporter:
    """A reporter of an agent that does not run."""

    def away(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("away")

    return Reporter(
        "http://agent", httpx2.Client(transport=httpx2.MockTransport(away)), MovedClock()
    )


def test_an_agent_that_is_away_costs_the_program_nothing_but_the_events() -> None:
    reporter = _away()

    for _ in range(MAX_QUEUED):
        reporter.call("FIP-1", "/Consent", took_ms=1, status=200)
    reporter.close()

    assert reporter.metrics.dropped == 2 * MAX_QUEUED
    assert reporter.metrics.sent == 0


def _fetched(size: int) -> bytes:
    """The answer to an FI fetch, of so many bytes, most of them packets."""
    empty = b'{"FI":[{"data":[{"encryptedFI":""}]}]}'
    return empty.replace(b'""', b'"' + b"x" * (size - len(empty)) + b'"')


@pytest.mark.parametrize("largest", [8 << 20, 2_000, 500])
def test_calls_with_large_bodies_cost_no_other_call(largest: int) -> None:
    """Also where a proxy in front of the agent takes less than the agent."""
    clock = MovedClock()
    agent = RecordingAgent(clock, largest=largest)
    reporter = _reporter(agent, clock)

    for _ in range(10):
        reporter.call("FIP-1", "/FI/fetch", took_ms=1, status=200, body=_fetched(MAX_BODY))
        reporter.call("FIP-1", "/Consent", took_ms=1, status=200, body=b'{"a":1}')
    assert reporter._queued_bytes < 10_000
    reporter.close()

    assert (reporter.metrics.sent, reporter.metrics.dropped) == (40, 0)
    assert len(agent.events) == 40
    sizes = {event.size for event in agent.events if isinstance(event, CallEnded)}
    assert sizes == {0, MAX_BODY - len(_fetched(0))}


@pytest.mark.parametrize("busy", [408, 429, 500, 503])
def test_what_a_busy_agent_does_not_take_is_sent_again(busy: int) -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock, busy)
    reporter = _reporter(agent, clock)

    reporter.call("FIP-1", "/Consent", took_ms=1, status=200)
    reporter.close()

    assert (reporter.metrics.sent, reporter.metrics.dropped) == (2, 0)
    assert agent.requests == 2


def test_what_is_refused_is_dropped_and_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock, 401)
    reporter = _reporter(agent, clock)

    reporter.call("FIP-1", "/Consent", took_ms=1, status=200)
    reporter.close()

    assert (reporter.metrics.sent, reporter.metrics.dropped) == (0, 2)
    assert [record.getMessage() for record in caplog.records if "mudra" in record.name] == [
        "2 events were not reported: the agent answered 401"
    ]


def test_the_queue_is_bounded_in_bytes() -> None:
    reporter = _away()

    for _ in range(20):
        reporter.call("FIP-1", "/" + "x" * (1 << 20), took_ms=1, status=200)
    assert 0 < reporter._queued_bytes <= MAX_QUEUED_BYTES
    reporter.close()

    assert reporter.metrics.dropped == 40


def test_the_library_needs_the_base_install_only() -> None:
    code = (
        "import sys; sys.modules |= dict.fromkeys(['hdrh', 'opentelemetry', 'uvicorn', 'typer']);"
        "import mudra.agent.sources.middleware"
    )

    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_httpx_transport_reports_calls_and_leaves_bodies_alone() -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock)
    reporter = _reporter(agent, clock)

    def fip(request: httpx2.Request) -> httpx2.Response:
        clock.pass_time(70)
        if request.url.path.endswith("discover"):
            raise httpx2.ReadTimeout("late")
        return httpx2.Response(200, json={"sessionId": "S-5"})

    async def story() -> None:
        transport = ReportingTransport(
            reporter, {"fip.test": "FIP-1"}.get, httpx2.MockTransport(fip)
        )  # type: ignore[arg-type]
        async with httpx2.AsyncClient(transport=transport) as http:
            answer = await http.post("https://fip.test/v2/FI/request", json={})
            assert answer.json() == {"sessionId": "S-5"}
            await http.post("https://elsewhere.test/v2/Consent", json={})
            await asyncio.gather(
                http.post("https://fip.test/Accounts/discover"), return_exceptions=True
            )

    asyncio.run(story())
    reporter.close()

    requests = [event for event in agent.events if isinstance(event, CallStarted)]
    answers = [event for event in agent.events if isinstance(event, CallEnded)]
    assert [event.code for event in requests] == ["fireq", "adisc"]
    assert [(event.status, event.session) for event in answers] == [(200, "S-5"), (0, "")]
    assert answers[0].mono - requests[0].mono == 70


def test_the_asgi_middleware_reports_notifications_with_their_content() -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock)
    reporter = _reporter(agent, clock)
    body = {
        "FIStatusNotification": {
            "sessionId": "S-1",
            "FIStatusResponse": [{"Accounts": [{"FIStatus": "READY"}]}],
        }
    }

    async def app(scope, receive, send) -> None:
        assert json.loads((await receive())["body"]) == body or scope["path"] == "/other"
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def story() -> None:
        watched = ReportingApp(app, reporter, lambda headers, _: headers.get("x-fip", ""))
        transport = httpx2.ASGITransport(watched)  # type: ignore[arg-type]
        async with httpx2.AsyncClient(transport=transport, base_url="http://aa") as http:
            await http.post("/FI/Notification", json=body, headers={"x-fip": "FIP-1"})
            await http.post("/other", json=body)

    asyncio.run(story())
    reporter.close()

    started, ended = agent.events
    assert isinstance(started, CallStarted)
    assert isinstance(ended, CallEnded)
    assert (started.inbound, started.code, started.fip) == (True, "finot", "FIP-1")
    assert started.notification is not None
    assert started.notification.statuses == FiStatus.READY
    assert ended.status == 200
