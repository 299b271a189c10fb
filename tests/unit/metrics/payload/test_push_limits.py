"""A node accepts a bounded number of pushes, and of one AA and payload only so many."""

import random
from itertools import repeat

from mudra.http.response.errors import problem_of
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.push_limits import PushLimits, TooManyPushes
from mudra.shared.rate_limit import KeyedRateLimit


def limits(admitted):
    rate = KeyedRateLimit(1 / 600, 2, repeat(0.0).__next__)
    return PushLimits(rate, random.randint, admitted=admitted)


def test_refused_pushes_may_come_again_at_different_times():
    pushes = limits(admitted=2)
    assert [pushes.admit(), pushes.admit()] == [None, None]

    waits = {busy.retry_after_s for _ in range(200) if (busy := pushes.admit())}

    assert min(waits) >= 5
    assert max(waits) <= 60
    assert len(waits) > 20


def test_the_answer_is_503_with_retry_after():
    pushes = limits(admitted=0)
    busy = pushes.admit()

    problem = problem_of(busy)

    assert problem.status == 503
    assert problem.headers["Retry-After"] == str(busy.retry_after_s)


def test_a_place_is_free_again_when_its_push_has_ended():
    pushes = limits(admitted=1)
    assert pushes.admit() is None
    assert pushes.admit() is not None

    pushes.leave()

    assert pushes.admit() is None


def test_the_two_payloads_and_refused_ones_are_limited_apart():
    pushes = limits(admitted=1)

    used = [pushes.use_rate("aa-one", tag) for tag in (Tag.REQUESTS, Tag.NOTIFICATIONS, None) * 2]

    assert used == [None] * 6
    assert isinstance(pushes.use_rate("aa-one", None), TooManyPushes)
    assert pushes.use_rate("aa-two", None) is None
