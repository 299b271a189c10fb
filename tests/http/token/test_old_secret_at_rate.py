"""Token requests without pause across the moment of a reset."""

import asyncio
import time
from collections import Counter

import httpx2
from tests.support.http_clients import NO_TLS, new_address
from tests.support.members import Member, new_member
from tests.support.service import Service

RESETS = 4
"""Of one member, who has five a day."""
ASKING = 8
BEFORE, AFTER = 3, 6
"""So often each asks at least before the reset, and then after its answer."""


def a_client(service: Service) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=service.issuer,
        transport=httpx2.AsyncHTTPTransport(local_address=new_address(), verify=NO_TLS),
        trust_env=False,
    )


async def across_a_reset(member: Member, headers: dict[str, str], old: str) -> tuple[int, int]:
    """Tokens that the old secret got before the reset, and after its answer was there."""
    asked: list[tuple[float, int]] = []
    answered_at = float("inf")
    warm = Counter[httpx2.AsyncClient]()

    async def ask_without_pause(client: httpx2.AsyncClient) -> None:
        form, late = {"id": member.entity_id, "secret": old}, 0
        while late < AFTER:
            started = time.monotonic()
            answer = await client.post("/v1/entity/token/generate", data=form)
            assert answer.status_code in {200, 401}, answer.text
            asked.append((started, answer.status_code))
            warm[client] += 1
            late += started > answered_at

    clients = [a_client(member.service) for _ in range(ASKING + 1)]
    try:
        asking = [asyncio.create_task(ask_without_pause(client)) for client in clients[1:]]
        while min(warm[client] for client in clients[1:]) < BEFORE:
            await asyncio.sleep(0.005)
            assert not any(task.done() for task in asking), "one could not ask"
        reset = await clients[0].post(
            "/v1/entity/secret/reset", json={"entityId": member.entity_id}, headers=headers
        )
        answered_at = time.monotonic()
        assert reset.status_code == 200
        await asyncio.gather(*asking)
    finally:
        for client in clients:
            await client.aclose()
    good = [started for started, status in asked if status == 200]
    return sum(s < answered_at for s in good), sum(s > answered_at for s in good)


def test_no_token_is_issued_for_the_old_secret_after_the_response_to_the_reset(
    service_of_two: Service,
) -> None:
    before = after = 0
    member = new_member(service_of_two)
    headers = member.bearer()
    for _ in range(RESETS):
        old = member.read(headers).json()["secret"]
        counted = asyncio.run(across_a_reset(member, headers, old))
        before, after = before + counted[0], after + counted[1]
        service_of_two.advance("PT6M")

    assert before >= RESETS * ASKING * BEFORE
    assert after == 0
