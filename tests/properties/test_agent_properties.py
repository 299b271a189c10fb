"""Whatever comes, in whatever order: payloads keep the operator's rules, and a crash changes nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.depth import examples
from tests.support.manual_clock import START, MovedClock

from mudra.agent.counting.counter import Counter
from mudra.agent.counting.event import Call, CallEnded, CallStarted, Event, FiStatus, Notification
from mudra.agent.counting.fi_session_tracker import FiSessionTracker
from mudra.agent.counting.payload import Payload, Reporter, payloads
from mudra.agent.counting.window import WINDOW, Windows
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.metrics.payload.validation import CheckedReport, check_report

pytestmark = pytest.mark.deeper

REQUESTS = [code.value for code in RequestType if "not" not in code.value or code.value == "cnot"]
NOTICES = [code.value for code in NotificationType]
BY = Reporter("AA-1", "mudra-test")

times = st.integers(0, 3 * WINDOW - 1)
keys = st.sampled_from(["a", "b", "c", "d"])
fips = st.sampled_from(["FIP-1", "FIP-2"])
statuses = st.sampled_from([0, 200, 204, 302, 400, 404, 410, 429, 500, 504, 599])
sessions = st.sampled_from(["", "S-1", "S-2"])
notifications = st.none() | st.builds(
    Notification,
    st.sampled_from(["S-1", "S-2"]),
    st.integers(1, 31).filter(lambda bits: bits <= sum(FiStatus)),
    st.integers(-1, 5),
)


@st.composite
def events(draw: st.DrawFn) -> Event:
    at, inbound = draw(times), draw(st.booleans())
    code = draw(st.sampled_from(NOTICES if inbound else REQUESTS))
    kind = draw(st.sampled_from([CallStarted, CallEnded, Call]))
    if kind is CallStarted:
        return CallStarted(
            draw(keys), inbound, draw(fips), code, START + at, at, draw(notifications)
        )
    if kind is CallEnded:
        return CallEnded(
            draw(keys), inbound, START + at, at, draw(statuses), draw(times), draw(sessions)
        )
    took = draw(st.integers(0, 40_000))
    return Call(
        inbound, draw(fips), code, START + at, at, took, draw(statuses), draw(times), draw(sessions), draw(notifications),
    )  # fmt: skip


def _counter() -> Counter:
    return Counter(Windows(), FiSessionTracker())


def _closed(counter: Counter) -> list[Payload]:
    counter.expire(10 * WINDOW)
    made: list[Payload] = []
    for start in counter.windows.due(START + 10 * WINDOW):
        made += payloads(start, counter.close(start), BY)
    return made


@settings(max_examples=examples(16), deadline=None)
@given(st.lists(events(), max_size=40))
def test_every_payload_keeps_every_rule_of_the_operator(events: list[Event]) -> None:
    counter = _counter()

    counter.apply(events)
    made = _closed(counter)

    now = MovedClock(START + 10 * WINDOW).datetime()
    assert all(isinstance(check_report(payload.body, now), CheckedReport) for payload in made)
    assert len({(payload.window, payload.tag) for payload in made}) == len(made)
    assert not counter.windows.open


@settings(max_examples=examples(16), deadline=None)
@given(st.lists(events(), max_size=40), st.integers(0, 40))
def test_a_snapshot_at_any_moment_and_the_events_after_it_give_the_same_payloads(
    events: list[Event], cut: int
) -> None:
    whole, before, after = _counter(), _counter(), _counter()
    whole.apply(events)

    before.apply(events[:cut])
    after.restore(before.state(), shift=0)
    after.apply(events[cut:])

    assert _closed(after) == _closed(whole)
