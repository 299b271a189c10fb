"""A queue is fair between keys, bounded for each, and forgets them when they end."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.http.dependencies import new_page_turns
from mudra.shared.waiting.fair_queue import Patience, Queue


def test_a_key_that_waits_is_served_next_however_many_another_asks_for():
    async def run():
        turns, served = Queue(1, 5.0), []

        async def ask(key):
            async with turns.turn(key) as admitted:
                assert admitted
                served.append(key)
                await asyncio.sleep(0)

        asked = [asyncio.create_task(ask(key)) for key in ["greedy"] * 50 + ["modest"]]
        await asyncio.gather(*asked)
        return served

    assert asyncio.run(run()).index("modest") == 2


def test_one_key_never_takes_what_is_kept_for_others():
    async def run():
        turns = Queue(3, 0.0, per_key=2)
        async with (
            turns.turn("a") as one,
            turns.turn("a") as two,
            turns.turn("a") as three,
            turns.turn("b") as other,
        ):
            return one, two, three, other

    assert asyncio.run(run()) == (True, True, False, True)


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 3), st.booleans()), max_size=40),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_bounds_hold_and_nothing_is_remembered_at_the_end(asked, most, max_per_key):
    async def run():
        turns, held = Queue(most, 5.0, per_key=max_per_key), []

        async def ask(key, steps):
            async with turns.turn(key):
                held.append(key)
                assert len(held) <= most
                assert held.count(key) <= max_per_key
                try:
                    for _ in range(steps):
                        await asyncio.sleep(0)
                finally:
                    held.remove(key)

        tasks = [asyncio.create_task(ask(key, steps)) for key, steps, _ in asked]
        await asyncio.sleep(0)
        for task, (_, _, leaves) in zip(tasks, asked, strict=True):
            if leaves:
                task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert not [one for one in ended if isinstance(one, AssertionError)]
        assert turns.remembered == 0
        async with turns.turn("last") as admitted:
            assert admitted

    asyncio.run(run())


def test_in_a_full_queue_a_key_with_fewer_waiting_takes_the_place_of_the_last():
    async def run():
        queue, served = Queue(1, 60.0, most_waiting=3), []

        async def ask(key, number):
            async with queue.turn(key) as admitted:
                served.append((key, number, admitted))

        async with queue.turn("first"):
            asked = [asyncio.create_task(ask("greedy", number)) for number in range(4)]
            await asyncio.sleep(0)
            assert served == [("greedy", 3, False)]  # at once
            asked.append(asyncio.create_task(ask("modest", 0)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert served.pop() == ("greedy", 2, False)
        await asyncio.gather(*asked)
        return served[1:]

    assert asyncio.run(run()) == [("greedy", 0, True), ("modest", 0, True), ("greedy", 1, True)]


def test_a_wait_ends_and_leaves_nothing_behind():
    async def run():
        turns = Queue(1, 0.001)
        async with turns.turn("a"):
            for number in range(100):
                async with turns.turn(f"other-{number}") as admitted:
                    assert not admitted
            assert turns.remembered == 1

    asyncio.run(run())


def test_an_error_in_a_turn_gives_the_turn_back():
    async def run():
        turns = Queue(1, 0.0)
        with pytest.raises(ValueError):
            async with turns.turn("a"):
                raise ValueError
        async with turns.turn("b") as admitted:
            return admitted

    assert asyncio.run(run())


class VirtualTime(asyncio.SelectorEventLoop):
    """A loop whose time passes only where all wait for it, and then at once."""

    def __init__(self):
        super().__init__()
        self._now, self._select = 0.0, self._selector.select
        self._selector.select = self._skip

    def time(self):
        return self._now

    def _skip(self, timeout):
        self._now += timeout or 0.0
        return self._select(0)


def admitted_of(turns, keys, seconds):
    """How many of those who ask at once get a turn, each of which takes so many seconds."""

    async def ask(key):
        async with turns.turn(key) as admitted:
            if admitted:
                await asyncio.sleep(seconds)
            return admitted

    async def run():
        admitted = await asyncio.gather(*map(ask, keys))
        assert turns.remembered == 0
        return sum(admitted)

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        return runner.run(run())


@pytest.mark.parametrize("keys", [["one"] * 64, [f"{n}" for n in range(64)]])
def test_64_readers_of_a_page_all_get_a_turn_where_it_is_made_slowly(keys):
    assert admitted_of(new_page_turns(), keys, seconds=1.8) == 64


def test_only_a_bounded_number_waits_longer_of_a_key_and_in_all():
    of_key = Queue(1, 10.0, patience=Patience(wait_s=1000.0, per_key=5, in_all=8))
    in_all = Queue(1, 10.0, patience=Patience(wait_s=1000.0, per_key=5, in_all=8))

    # One is served at once, one after the other while all wait, then those who wait longer.
    assert admitted_of(of_key, ["a"] * 100, seconds=20.0) == 1 + 5
    assert admitted_of(in_all, [f"{n}" for n in range(100)], seconds=20.0) == 1 + 8


def test_a_longer_wait_is_free_for_the_next_when_it_ends():
    async def run():
        turns = Queue(1, 0.0, patience=Patience(wait_s=1000.0, per_key=1, in_all=1))
        for _ in range(3):
            async with turns.turn("a"):
                waiting = asyncio.create_task(turns.turn("a").__aenter__())
                await asyncio.sleep(0)
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
        return turns

    with asyncio.Runner(loop_factory=VirtualTime) as runner:
        turns = runner.run(run())
    assert admitted_of(turns, ["a", "a"], seconds=20.0) == 2
