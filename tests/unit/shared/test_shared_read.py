"""Callers who wait for one read have its outcome, also when it fails."""

import asyncio
import gc
import weakref

import pytest

from mudra.shared.shared_read import SharedRead
from mudra.shared.unavailable import DatabaseUnavailable


class Reader:
    """What is read once for all; each read takes its time, and may fail."""

    def __init__(self, failures: int) -> None:
        self.turns, self.failures, self.reads, self.known = SharedRead(), failures, 0, False

    async def get(self) -> str:
        async with self.turns.turn():
            if not self.known:
                self.reads += 1
                await asyncio.sleep(0)
                if self.reads <= self.failures:
                    raise DatabaseUnavailable("gone")
                self.known = True
        return "read"


async def asked(reader: Reader, callers: int) -> list[object]:
    return await asyncio.gather(*(reader.get() for _ in range(callers)), return_exceptions=True)


def test_one_read_serves_all_who_wait() -> None:
    reader = Reader(failures=0)

    assert asyncio.run(asked(reader, 20)) == ["read"] * 20
    assert reader.reads == 1


def test_one_failure_is_that_of_all_who_wait_and_of_no_one_after_them() -> None:
    reader = Reader(failures=1)

    async def ask_twice() -> tuple[list[object], int, list[object]]:
        failed = await asked(reader, 20)
        return failed, reader.reads, await asked(reader, 3)

    failed, reads, then = asyncio.run(ask_twice())

    assert {type(one) for one in failed} == {DatabaseUnavailable}
    assert reads == 1
    assert then == ["read"] * 3
    assert reader.reads == 2


def test_what_a_failed_read_held_is_gone_with_the_next_success() -> None:
    """A kept failure has the frames of its traceback: all that was read before it."""

    class Figures:
        pass

    turns, held = SharedRead(), list[weakref.ref[Figures]]()

    async def read(*, fails: bool) -> None:
        async with turns.turn():
            figures = Figures()
            held.append(weakref.ref(figures))
            if fails:
                raise DatabaseUnavailable("gone")

    async def act() -> None:
        with pytest.raises(DatabaseUnavailable):
            await read(fails=True)
        await read(fails=False)

    asyncio.run(act())
    gc.collect()

    assert [one() for one in held] == [None, None]


def test_another_error_is_of_its_own_call_alone() -> None:
    turns = SharedRead()

    async def wrong() -> None:
        async with turns.turn():
            raise ValueError("its own")

    async def right() -> str:
        async with turns.turn():
            return "read"

    async def both() -> list[object]:
        return await asyncio.gather(wrong(), right(), return_exceptions=True)

    first, second = asyncio.run(both())

    assert isinstance(first, ValueError)
    assert second == "read"


def test_what_is_of_all_is_for_the_reader_to_say() -> None:
    turns, reads = SharedRead(lambda failure: isinstance(failure, TimeoutError)), 0

    async def read() -> None:
        nonlocal reads
        async with turns.turn():
            reads += 1
            await asyncio.sleep(0)
            raise TimeoutError

    async def many() -> list[object]:
        return await asyncio.gather(*(read() for _ in range(5)), return_exceptions=True)

    assert {type(one) for one in asyncio.run(many())} == {TimeoutError}
    assert reads == 1
