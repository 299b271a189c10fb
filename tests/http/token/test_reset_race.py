"""100 resets at once: one succeeds, the others must wait."""

import asyncio
import collections
import time

import httpx2
import pytest
from tests.support.hostile.simultaneous import crowd, together
from tests.support.members import Member, new_member
from tests.support.service import Service

AT_ONCE = 100


@pytest.mark.parametrize(
    ("number", "rounds_each"),
    [(1, 1), pytest.param(4, 5, marks=pytest.mark.slow)],  # a member has five resets a day
)
def test_of_100_resets_at_once_exactly_one_succeeds_in_each_round(
    service_of_two: Service, number: int, rounds_each: int
) -> None:
    members = [new_member(service_of_two) for _ in range(number)]
    headers = {member.entity_id: member.bearer() for member in members}

    async def race(clients: list[httpx2.AsyncClient], member: Member) -> None:
        bearer = headers[member.entity_id]
        before = member.read(bearer).json()
        ask = {"json": {"entityId": member.entity_id}, "headers": bearer}

        began = time.monotonic()
        answers = await together(clients, lambda c, _: c.post("/v1/entity/secret/reset", **ask))

        only_one_won(answers, time.monotonic() - began)
        after = member.read(bearer).json()
        assert after["secret"] == winner(answers).json()["secret"] != before["secret"]

    async def all_rounds() -> None:
        async with crowd(service_of_two, AT_ONCE) as clients:
            for _ in range(rounds_each):
                for member in members:
                    await race(clients, member)
                service_of_two.advance("PT5M1S")

    asyncio.run(all_rounds())


def only_one_won(answers: list[httpx2.Response], took_s: float) -> None:
    assert collections.Counter(a.status_code for a in answers) == {200: 1, 429: AT_ONCE - 1}
    for refused in (a for a in answers if a.status_code == 429):
        assert refused.json()["errorCode"] in {"ResetTooSoon", "ResetLimitReached"}
        assert int(refused.headers["Retry-After"]) >= 299 - took_s


def winner(answers: list[httpx2.Response]) -> httpx2.Response:
    return next(a for a in answers if a.status_code == 200)
