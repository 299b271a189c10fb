"""What many ask for at once is made once, and again when what it is made of has changed."""

import asyncio
import gc
import weakref
from time import monotonic

import pytest
from tests.support.until import PATIENCE_S

from mudra.shared.unavailable import DatabaseUnavailable
from mudra.shared.waiting.made_once import MadeOnce

IDLE_S = 120.0
MAX_LARGE = 3
MAX_SMALL = 60
TTL_S = 600.0


class Asking:
    """Readers of values that count how often they are made."""

    def __init__(self, **more):
        self.now = 0.0
        self.values = MadeOnce(lambda: self.now, **more)
        self.begun, self.made = 0, []
        self.failure, self.takes_s = None, 0.0

    async def get(self, question, made_of):
        async def make():
            self.begun += 1
            await asyncio.sleep(0)
            self.now += self.takes_s
            if self.failure:
                raise self.failure
            self.made.append((question, made_of))
            return f"{question} of {made_of}"

        return await self.values.get(question, made_of, make)


def test_many_who_ask_at_once_get_what_was_made_once():
    async def act():
        asking = Asking()
        assert await asyncio.gather(*(asking.get("AA", 1) for _ in range(64))) == ["AA of 1"] * 64
        assert await asking.get("AA", 1) == "AA of 1"
        assert asking.made == [("AA", 1)]

    asyncio.run(act())


def test_it_is_made_again_when_what_it_is_made_of_has_changed_or_time_has_passed():
    async def act():
        asking = Asking()
        assert await asking.get("AA", 1) == "AA of 1"
        assert await asking.get("AA", 2) == "AA of 2"
        assert await asking.get("FIP", 2) == "FIP of 2"
        asking.now += TTL_S
        assert await asking.get("AA", 2) == "AA of 2"
        assert asking.made == [("AA", 1), ("AA", 2), ("FIP", 2), ("AA", 2)]

    asyncio.run(act())


def test_of_large_values_one_is_made_at_a_time():
    async def act():
        values, making, most = MadeOnce(lambda: 0.0), set(), []

        async def ask(question, *, large):
            async def make():
                making.add(question)
                most.append(len(making))
                await asyncio.sleep(0)
                making.remove(question)
                return question

            return await values.get(question, 1, make, large=large)

        large = await asyncio.gather(*(ask(number, large=True) for number in range(4)))
        assert (large, max(most)) == ([0, 1, 2, 3], 1)
        await asyncio.gather(*(ask(f"small {number}", large=False) for number in range(3)))
        assert max(most) == 3

    asyncio.run(act())


def test_only_the_latest_questions_are_kept():
    async def act():
        asking = Asking()
        for question in range(MAX_SMALL):
            await asking.get(question, 1)
        await asking.get(0, 1)
        await asking.get("one more", 1)
        asking.made.clear()
        await asking.get(0, 1)
        assert asking.made == []
        await asking.get(1, 1)
        assert asking.made == [(1, 1)]

    asyncio.run(act())


def test_small_questions_take_no_place_of_large_ones():
    async def act():
        values, made = MadeOnce(lambda: 0.0), []

        async def make():
            made.append(1)

        for number in range(MAX_LARGE):
            await values.get(("large", number), 1, make, large=True)
        for number in range(MAX_SMALL):
            await values.get(number, 1, make)
        made.clear()
        for number in range(MAX_LARGE):
            await values.get(("large", number), 1, make, large=True)
        assert made == []

    asyncio.run(act())


def test_what_is_too_old_is_not_kept_until_others_take_its_place():
    """Most questions are of a time: an hour later a worker would hold the figures of all of it."""

    class Figures:
        pass

    async def act():
        now = 0.0
        values = MadeOnce(lambda: now)

        async def make():
            return Figures()

        held = weakref.ref(await values.get("the hour until 9:00", 1, make))
        for _ in range(int(TTL_S / IDLE_S * 2) - 1):
            now += IDLE_S / 2
            await values.get("the hour until 9:00", 1, make)
        kept = weakref.ref(await values.get("the hour until 9:10", 1, make))
        assert held() is not None
        now += IDLE_S / 2
        await values.get("the hour until 9:20", 1, make)
        assert held() is None
        assert kept() is not None

    asyncio.run(act())


def test_what_no_one_asks_for_any_more_is_not_kept():
    async def act():
        asking = Asking()
        await asking.get("asked for again", 1)
        await asking.get("not asked for again", 1)
        asking.now += IDLE_S / 2
        await asking.get("asked for again", 1)
        asking.now += IDLE_S / 2
        asking.made.clear()
        await asking.get("asked for again", 1)
        await asking.get("not asked for again", 1)
        assert asking.made == [("not asked for again", 1)]

    asyncio.run(act())


def test_what_is_being_made_is_not_made_once_more_for_others_who_come():
    async def act():
        values, made = MadeOnce(lambda: 0.0), []
        begun, may_end = asyncio.Event(), asyncio.Event()

        async def slowly():
            begun.set()
            made.append("slowly")
            await may_end.wait()
            return "made"

        async def at_once():
            return None

        first = asyncio.create_task(values.get("slow", 1, slowly))
        await begun.wait()
        for number in range(MAX_SMALL + 1):
            await values.get(number, 1, at_once)
        second = asyncio.create_task(values.get("slow", 1, slowly))
        await asyncio.sleep(0)
        may_end.set()
        assert await asyncio.gather(first, second) == ["made", "made"]
        assert made == ["slowly"]

    asyncio.run(act())


def test_those_who_wait_fail_with_a_database_that_is_gone_and_the_next_tries_again():
    async def act():
        asking = Asking()
        asking.failure = DatabaseUnavailable("gone")
        results = await asyncio.gather(
            *(asking.get("AA", 1) for _ in range(3)), return_exceptions=True
        )
        assert {type(one) for one in results} == {DatabaseUnavailable}
        assert asking.begun == 1
        asking.failure = None
        assert await asking.get("AA", 1) == "AA of 1"

    asyncio.run(act())


def test_another_failure_is_that_of_one_and_the_next_makes_it():
    async def act():
        asking = Asking()
        asking.failure = ZeroDivisionError()
        first = asyncio.create_task(asking.get("AA", 1))
        second = asyncio.create_task(asking.get("AA", 1))
        with pytest.raises(ZeroDivisionError):
            await first
        asking.failure = None
        assert await second == "AA of 1"

    asyncio.run(act())


def test_which_failures_are_of_all_can_be_chosen():
    async def act():
        asking = Asking(is_of_all=lambda failure: isinstance(failure, TimeoutError))
        asking.failure = TimeoutError()
        results = await asyncio.gather(
            *(asking.get("AA", 1) for _ in range(5)), return_exceptions=True
        )
        assert {type(one) for one in results} == {TimeoutError}
        assert asking.begun == 1

    asyncio.run(act())


def test_when_the_one_that_makes_it_goes_away_the_next_makes_it():
    async def act():
        asking = Asking()
        first = asyncio.create_task(asking.get("AA", 1))
        second = asyncio.create_task(asking.get("AA", 1))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == "AA of 1"
        assert asking.begun == 2

    asyncio.run(act())


def test_what_a_failed_computation_held_is_gone_with_the_next_success():
    """A kept failure has the frames of its traceback: all that was read before it."""

    class Figures:
        pass

    values, held = MadeOnce(lambda: 0.0), []

    async def make(*, fails):
        figures = Figures()
        held.append(weakref.ref(figures))
        if fails:
            raise DatabaseUnavailable("gone")
        return "made"

    async def act():
        with pytest.raises(DatabaseUnavailable):
            await values.get("AA", 1, lambda: make(fails=True))
        await values.get("AA", 1, lambda: make(fails=False))

    asyncio.run(act())
    gc.collect()

    assert [one() for one in held] == [None, None]


def test_how_long_a_value_lives_can_depend_on_how_long_it_took():
    async def act():
        asking = Asking(lives_s=lambda took_s: 20 * took_s)
        asking.takes_s = 3.0
        await asking.get("network", 1)
        asking.now += 59.0
        await asking.get("network", 1)
        assert asking.begun == 1
        asking.now += 1.0
        await asking.get("network", 1)
        assert asking.begun == 2

    asyncio.run(act())


def test_an_old_value_is_gone_also_when_nothing_is_asked_for_any_more():
    async def act():
        class Value:
            pass

        async def make():
            return Value()

        values = MadeOnce(monotonic, idle_s=0.01)
        held = weakref.ref(await values.get("AA", 1, make))
        deadline = monotonic() + PATIENCE_S
        while held() is not None and monotonic() < deadline:
            await asyncio.sleep(0.05)
            gc.collect()
        assert held() is None

    asyncio.run(act())
