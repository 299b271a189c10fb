"""What listeners of the feed get: every change of a state, also of a window that is judged again."""

import asyncio
import contextlib
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from tests.support.until import PATIENCE_S

from mudra.http.health.feed_events import FeedEvents
from mudra.metrics.health.feed import HealthFeed, health_feed
from mudra.metrics.health.fip_health import NOTHING_REPORTED
from mudra.metrics.health.fip_state import ApiState, FipStates
from mudra.metrics.health.health import Status
from mudra.metrics.payload.catalogue import FEED_APIS, WINDOW
from mudra.metrics.rollup.coverage import Proof, TimeRange

START = datetime(2026, 3, 4, 12, tzinfo=UTC)
BANK = "BANK-1"


def feed(status: Status, window: datetime = START) -> HealthFeed:
    """The feed in which all APIs of a bank have this status, of which `window` is the evidence."""
    state = ApiState(status, 0.9, 400, 4, 3, 1, int(window.timestamp()))
    states = FipStates(window, {BANK: (state,) * len(FEED_APIS)})
    within = TimeRange(START - 6 * WINDOW, START)
    return health_feed({BANK: NOTHING_REPORTED}, within, Proof(1, 1, 2, 2), states)


GOOD, BAD = feed(Status.GOOD), feed(Status.BAD)
NEXT = feed(Status.GOOD, START + WINDOW)


async def heard(*feeds: HealthFeed) -> Any:
    """Return the first event of a listener after `ready`; each feed but the first is announced."""
    dependencies: Any = SimpleNamespace(node=SimpleNamespace(stopping=False))
    waiting = iter(feeds)

    async def read(_: object) -> HealthFeed:
        return next(waiting)

    async def is_allowed() -> bool:
        return True

    events = FeedEvents(read)
    async with contextlib.aclosing(events.listen("FIU-1", dependencies, is_allowed)) as listening:
        await anext(listening)
        for _ in feeds[1:]:
            events.announce()
            await asyncio.sleep(0.01)  # until it is published
        event = await asyncio.wait_for(anext(listening), PATIENCE_S)
    return msgspec.json.decode(event.split(b"data: ")[1])


@pytest.mark.parametrize(("before", "after"), [(GOOD, BAD), (BAD, GOOD)])
def test_a_window_that_is_judged_again_is_an_event_of_what_changed(
    before: HealthFeed, after: HealthFeed
) -> None:
    event = asyncio.run(heard(before, after))

    assert event["judged_until"] == before.judged_until
    assert event["fips"][BANK]["consent"]["status"] == after.data.fips[BANK].consent.status


def test_a_window_that_changes_no_state_is_an_event() -> None:
    same = feed(Status.GOOD)
    later = msgspec.structs.replace(same, judged_until=NEXT.judged_until)

    event = asyncio.run(heard(same, later))

    assert event == {"judged_until": NEXT.judged_until, "fips": {}}


def test_a_feed_that_is_as_before_is_no_event() -> None:
    event = asyncio.run(heard(GOOD, feed(Status.GOOD), BAD))

    assert event["fips"][BANK]["consent"]["status"] == "BAD"
