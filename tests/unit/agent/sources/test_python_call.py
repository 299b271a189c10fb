"""The call, the httpx transport and the ASGI middleware, against the agent's own reader."""

import asyncio
import json

import httpx
from tests.support.manual_clock import MovedClock

from mudra.agent.counting.event import CallEnded, CallStarted, FiStatus
from mudra.agent.sources.http_event import read_events
from mudra.agent.sources.middleware import ReportingApp, ReportingTransport
from mudra.agent.sources.python_call import MAX_QUEUED, Reporter
from mudra.agent.sources.route import SourceContext


class RecordingAgent:
    """An agent that records what it receives."""

    def __init__(self, clock: MovedClock, status: int = 200) -> None:
        self.events: list[CallStarted | CallEnded] = []
        self.status, self._context = status, SourceContext(clock)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        events, rejected = read_events(request.content, self._context)
        assert not rejected
        self.events += events
        return httpx.Response(self.status, json={"message": "accepted"})


def _reporter(agent: RecordingAgent, clock: MovedClock) -> Reporter:
    return Reporter("http://agent", httpx.Client(transport=httpx.MockTransport(agent)), clock)


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


def test_an_agent_that_is_away_costs_the_program_nothing_but_the_events() -> None:
    def away(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("away")

    reporter = Reporter(
        "http://agent", httpx.Client(transport=httpx.MockTransport(away)), MovedClock()
    )

    for _ in range(MAX_QUEUED):
        reporter.call("FIP-1", "/Consent", took_ms=1, status=200)
    reporter.close()

    assert reporter.metrics.dropped == MAX_QUEUED


def test_the_httpx_transport_reports_calls_and_leaves_bodies_alone() -> None:
    clock = MovedClock()
    agent = RecordingAgent(clock)
    reporter = _reporter(agent, clock)

    def fip(request: httpx.Request) -> httpx.Response:
        clock.pass_time(70)
        if request.url.path.endswith("discover"):
            raise httpx.ReadTimeout("late")
        return httpx.Response(200, json={"sessionId": "S-5"})

    async def story() -> None:
        transport = ReportingTransport(
            reporter, {"fip.test": "FIP-1"}.get, httpx.MockTransport(fip)
        )  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport) as http:
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
        transport = httpx.ASGITransport(watched)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://aa") as http:
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
