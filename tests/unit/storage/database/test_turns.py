"""Requests queue for a connection while others are served, and fail at once when none is."""

import asyncio

import pytest

from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.shared.waiting.fair_queue import CLIENT
from mudra.storage.database.database import Turns


async def have(
    turns: Turns, served: list[int], number: int, until: asyncio.Event, client: str = ""
) -> None:
    CLIENT.set(client)
    async with turns.turn():
        served.append(number)
        await until.wait()


async def started(tasks: int, turns: Turns, served: list[int]) -> tuple[list, asyncio.Event]:
    """So many requests; all have asked for their turn."""
    until = asyncio.Event()
    running = [asyncio.create_task(have(turns, served, n, until)) for n in range(tasks)]
    for _ in range(3):
        await asyncio.sleep(0)
    return running, until


def test_requests_beyond_the_connections_wait_for_their_turn_in_order() -> None:
    async def scene() -> list[int]:
        turns, served = Turns(2), []
        running, until = await started(5, turns, served)
        assert served == [0, 1]
        until.set()
        await asyncio.gather(*running)
        return served

    assert asyncio.run(scene()) == [0, 1, 2, 3, 4]


def test_one_client_has_half_of_the_connections_at_most() -> None:
    async def scene() -> tuple[list[int], list[int]]:
        turns, served, until = Turns(8), [], asyncio.Event()
        crowd = [asyncio.create_task(have(turns, served, n, until, "a")) for n in range(20)]
        await asyncio.sleep(0)
        other = asyncio.create_task(have(turns, served, 20, until, "b"))
        node = asyncio.create_task(have(turns, served, 21, until))
        for _ in range(3):
            await asyncio.sleep(0)
        at_once = list(served)
        until.set()
        await asyncio.gather(*crowd, other, node)
        return at_once, sorted(served)

    assert asyncio.run(scene()) == ([0, 1, 2, 3, 20, 21], list(range(22)))


def test_those_who_wait_are_refused_once_nothing_succeeds() -> None:
    async def scene() -> list[object]:
        turns, served = Turns(1), []
        running, until = await started(4, turns, served)
        turns.lost(Outage.UNREACHABLE)
        waited = await asyncio.gather(*running[1:], return_exceptions=True)
        until.set()
        await running[0]
        return waited

    refused = asyncio.run(scene())

    assert [type(one) for one in refused] == [DatabaseUnavailable] * 3
    assert {one.cause for one in refused} == {Outage.UNREACHABLE}


def test_while_the_database_is_gone_one_at_a_time_tries_and_its_success_serves_all() -> None:
    async def scene() -> tuple[list[int], list[int]]:
        turns, served = Turns(5), []
        turns.lost(Outage.UNREACHABLE)
        running, until = await started(3, turns, served)
        alone = list(served)
        turns.succeeded()
        until.set()
        await asyncio.gather(*running)
        return alone, sorted(served)

    assert asyncio.run(scene()) == ([0], [0, 1, 2])


def test_a_lost_connection_refuses_no_one_while_others_succeed() -> None:
    async def scene() -> list[int]:
        turns, served = Turns(1), []
        running, until = await started(3, turns, served)
        turns.succeeded()
        turns.lost(Outage.UNREACHABLE)
        until.set()
        await asyncio.gather(*running)
        return served

    assert asyncio.run(scene()) == [0, 1, 2]


def test_a_request_that_is_cancelled_while_it_waits_leaves_the_turns_whole() -> None:
    async def scene() -> list[int]:
        turns, served = Turns(1), []
        running, until = await started(3, turns, served)
        running[1].cancel()
        until.set()
        await asyncio.gather(*running, return_exceptions=True)
        async with turns.turn():
            return served

    assert asyncio.run(scene()) == [0, 2]


def test_what_goes_wrong_in_a_turn_is_not_taken_for_a_wait() -> None:
    async def scene() -> None:
        async with Turns(1).turn():
            raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        asyncio.run(scene())
