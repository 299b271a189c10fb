"""Turns are shared in rotation, bounded for each key, and forgotten when they end."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mudra.shared.fair_turns import FairTurns


def test_a_key_that_waits_is_served_next_however_many_another_asks_for():
    async def run():
        turns, served = FairTurns(1, 1, 5.0), []

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
        turns = FairTurns(3, 2, 0.0)
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
        turns, held = FairTurns(most, max_per_key, 5.0), []

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
        assert len(turns) == 0
        async with turns.turn("last") as admitted:
            assert admitted

    asyncio.run(run())


def test_a_wait_ends_and_leaves_nothing_behind():
    async def run():
        turns = FairTurns(1, 1, 0.001)
        async with turns.turn("a"):
            for number in range(100):
                async with turns.turn(f"other-{number}") as admitted:
                    assert not admitted
            assert len(turns) == 1

    asyncio.run(run())


def test_an_error_in_a_turn_gives_the_turn_back():
    async def run():
        turns = FairTurns(1, 1, 0.0)
        with pytest.raises(ValueError):
            async with turns.turn("a"):
                raise ValueError
        async with turns.turn("b") as admitted:
            return admitted

    assert asyncio.run(run())
