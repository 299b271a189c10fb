"""Resets of one entity wait for each other; strangers are in no one's way."""

import asyncio

import httpx2
import sqlalchemy as sa
from tests.support.database.held_lock import count_waiting, someone_waits
from tests.support.members import Member, new_member
from tests.support.people.console import reader
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.tables.identity import entity


def test_a_stranger_is_refused_while_an_admin_s_reset_is_under_way(service: Service) -> None:
    member, stranger = new_member(service), service.client()
    headers = member.bearer()
    path, body = "/v1/entity/secret/reset", {"entityId": member.entity_id}

    async def refused_meanwhile(
        dependencies: Dependencies,
    ) -> tuple[httpx2.Response, bool, httpx2.Response]:
        own = sa.select(entity.c.entity_id).where(entity.c.entity_id == member.entity_id)
        async with dependencies.database.transaction(within_s=20) as holding:
            await holding.connection.execute(own.with_for_update())
            resetting = asyncio.create_task(asyncio.to_thread(member.reset, headers))
            while not await someone_waits(dependencies):
                assert not resetting.done(), resetting.result().text
            refused = await asyncio.to_thread(stranger.post, path, json=body)
            still_waits = not resetting.done()
        return refused, still_waits, await resetting

    refused, still_waits, done = service.in_store(refused_meanwhile)

    assert (refused.status_code, still_waits) == (401, True)
    assert done.status_code == 200, done.text


def test_resets_on_the_page_wait_for_each_other_without_a_connection(service: Service) -> None:
    member = new_member(service)
    browser, page = reader(service), f"/console/entity/{member.entity_id}/secret"
    browser.sign_in(member.email)
    sent = {"secretExpiryDays": "90", "oldSecretValidity": "0", "version": "1"}
    sent |= {"csrf_token": browser.word(page)}
    own = sa.select(entity.c.entity_id).where(entity.c.entity_id == member.entity_id)

    def reset() -> httpx2.Response:
        return browser.post(f"{page}/reset", sent)

    async def most_at_once(dependencies: Dependencies) -> tuple[int, list[int]]:
        async with dependencies.database.transaction(within_s=20) as holding:
            await holding.connection.execute(own.with_for_update())
            resets = [asyncio.create_task(asyncio.to_thread(reset)) for _ in range(3)]
            while not (waiting := await count_waiting(dependencies)):
                assert not any(one.done() for one in resets)
            for _ in range(10):  # the others are no later than the first
                await asyncio.sleep(0.05)
                waiting = max(waiting, await count_waiting(dependencies))
        return waiting, sorted(one.status_code for one in await asyncio.gather(*resets))

    waiting, codes = service.in_store(most_at_once)

    assert waiting == 1
    assert codes.count(200) <= 1


def test_a_wrong_token_is_refused_as_without_a_queue(member: Member) -> None:
    answer = member.reset({"Authorization": "Bearer nothing"})

    assert answer.status_code == 401
