"""A factor that is being set up is not stored for a session that a reset ends meanwhile."""

import asyncio

import httpx2
from tests.support.database.held_lock import someone_waits
from tests.support.members import Member
from tests.support.people.console import reader
from tests.support.people.second_factor import PAGE, begin, csrf, user_id
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted


def test_an_app_that_is_confirmed_as_an_operator_resets_the_factor_is_not_stored(
    service: Service, member: Member
) -> None:
    browser, who = reader(service), user_id(service, member.email)
    browser.sign_in(member.email)
    app, page = begin(browser, service)
    form = {"csrf_token": csrf(page), "new_code": app.code()}

    async def reset_meanwhile(dependencies: Dependencies) -> tuple[httpx2.Response, bool]:
        """Do what a reset does, once the confirmation waits for its turn."""
        async with dependencies.transaction(within_s=20) as tx:
            await Attempts(tx).history(Counted.SECOND_FACTOR, who, lock=True)
            confirming = asyncio.create_task(
                asyncio.to_thread(browser.post, f"{PAGE}/confirm", form)
            )
            while not await someone_waits(dependencies):
                assert not confirming.done(), confirming.result().text
            await UserTokens(tx).revoke_user_tokens(who, await People(tx).now())
        answer = await confirming
        async with dependencies.transaction() as tx:
            return answer, (await SecondFactors(tx).enrolled(who)).any

    answer, stored = service.in_store(reset_meanwhile)

    assert answer.headers.get("location", "").endswith("?told=ended"), answer.text
    assert not stored
