"""A node accepts a bounded number of pushes, and of one AA and payload only so many."""

import asyncio
import contextlib
import random
from itertools import repeat

import pytest

from mudra.http.response.errors import problem_of
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.push_limits import PushLimits, TooBusyForPushes, TooManyPushes
from mudra.shared.waiting.fair_queue import Queue
from mudra.shared.waiting.rate_limit import KeyedRateLimit


def limits(admitted=8, burst=2, burst_of_all=6):
    def rate(burst):
        return KeyedRateLimit(1 / 600, burst, repeat(0.0).__next__)

    uploads = Queue(admitted, 0.0)
    return PushLimits(rate(burst), rate(burst_of_all), random.randint, uploads)


def test_refused_pushes_may_come_again_at_different_times():
    waits = {limits().busy().retry_after_s for _ in range(200)}

    assert min(waits) >= 5
    assert max(waits) <= 60
    assert len(waits) > 20


def test_the_answer_is_503_with_retry_after():
    busy = limits().busy()

    problem = problem_of(busy)

    assert problem.status == 503
    assert problem.headers["Retry-After"] == str(busy.retry_after_s)


def test_a_place_is_free_again_when_its_push_has_ended():
    async def pushing():
        pushes = limits(admitted=1)
        async with pushes.upload("aa-one") as first:
            assert first is None
            async with pushes.upload("aa-two") as second:
                assert second is not None
        async with pushes.upload("aa-two") as third:
            assert third is None

    asyncio.run(pushing())


def test_the_two_payloads_and_refused_ones_are_limited_apart():
    pushes = limits()

    used = [pushes.use_rate("aa-one", tag) for tag in (Tag.REQUESTS, Tag.NOTIFICATIONS, None) * 2]

    assert used == [None] * 6
    assert isinstance(pushes.use_rate("aa-one", None), TooManyPushes)
    assert pushes.use_rate("aa-two", None) is None


def test_an_aa_that_has_sent_too_much_is_refused_before_it_is_read():
    pushes = limits(burst_of_all=3)

    assert [pushes.use_rate_of_all("aa-one") for _ in range(3)] == [None] * 3
    assert isinstance(pushes.use_rate_of_all("aa-one"), TooManyPushes)
    assert pushes.use_rate_of_all("aa-two") is None


def test_errors_are_looked_for_only_while_refusals_are_left():
    pushes = limits(burst=1)

    assert pushes.may_be_refused("aa-one")
    pushes.use_rate("aa-one", None)
    assert not pushes.may_be_refused("aa-one")
    assert pushes.use_rate("aa-one", Tag.REQUESTS) is None


def test_the_refusal_says_how_long_to_wait():
    pushes = limits(burst=1, burst_of_all=1)
    pushes.use_rate("aa-one", Tag.REQUESTS)
    pushes.use_rate_of_all("aa-one")

    assert pushes.use_rate("aa-one", Tag.REQUESTS) == TooManyPushes(600)
    assert pushes.use_rate_of_all("aa-one") == TooManyPushes(600)


def test_four_pushes_are_at_the_database_and_the_next_waits():
    async def pushing():
        pushes = limits()
        async with contextlib.AsyncExitStack() as places:
            for aa in ("aa-one", "aa-one", "aa-one", "aa-two"):
                assert await places.enter_async_context(pushes.at_database(aa)) is None
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01), pushes.at_database("aa-three"):
                    pass
        async with pushes.at_database("aa-three") as admitted:
            assert admitted is None

    asyncio.run(pushing())


def test_a_wait_for_the_database_ends_after_a_minute(monkeypatch):
    async def pushing():
        loop = asyncio.get_running_loop()
        now = loop.time()
        monkeypatch.setattr(loop, "time", lambda: now)
        pushes = limits()
        async with contextlib.AsyncExitStack() as places:
            for _ in range(4):
                await places.enter_async_context(pushes.at_database("aa-one"))
            waiting = asyncio.create_task(places.enter_async_context(pushes.at_database("aa-two")))
            for after_s, ended in ((0.0, False), (59.0, False), (2.0, True)):
                now += after_s
                for _round in range(10):
                    await asyncio.sleep(0)
                assert waiting.done() is ended
            assert isinstance(waiting.result(), TooBusyForPushes)

    asyncio.run(pushing())
