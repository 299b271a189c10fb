"""One who would use up sign-in for all others, or learn of accounts by time."""

import asyncio
import json
from collections import Counter

import httpx2
import jwt
import pytest
from tests.support.error_body import assert_error
from tests.support.hostile.simultaneous import at_once
from tests.support.http_clients import new_address
from tests.support.mailbox import mails
from tests.support.members import Member, new_member, onboard
from tests.support.people.operators import new_operator
from tests.support.service import Service
from tests.support.until import until

from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.password_rules import (
    PasswordContext,
    PasswordFault,
    PasswordRefusal,
    check_password,
)
from mudra.shared.waiting.fair_queue import Queue

GENERATE = "/v1/user/token/generate"


def sign_in(client: httpx2.Client, email: str, password: str) -> httpx2.Response:
    return client.post(GENERATE, data={"username": email, "password": password})


def test_an_account_signs_in_sixty_times_an_hour(strict: Service) -> None:
    """Medium 10: from wherever; and no one else learns of it."""
    service = strict
    member, elsewhere = new_member(service), service.client()
    codes = Counter(
        sign_in(member.client, member.email, member.password).status_code for _ in range(60)
    )
    assert codes == {200: 60}

    beyond = sign_in(member.client, member.email, member.password)
    assert_error(beyond, 429, "TooManyAttempts", "60 sign-ins of this account in an hour")
    assert_error(beyond, 429, "TooManyAttempts", "use the token you have, it lives 180 days")
    assert sign_in(elsewhere, member.email, member.password).status_code == 429
    assert sign_in(service.client(), member.email, "a guess that is wrong").status_code == 401
    service.advance("PT1H1S")
    assert sign_in(elsewhere, member.email, member.password).status_code == 200


def is_alive(member: Member, token: str) -> bool:
    """Uses the token once."""
    bearer = {"Authorization": f"Bearer {token}"}
    return member.client.get("/v1/user/token/list", headers=bearer).status_code == 200


def test_the_hundred_and_first_token_ends_the_one_that_was_used_least_recently(
    service: Service,
) -> None:
    """Medium 10: with its audit event; the night job's token, the oldest of all, lives on."""
    member = new_member(service)
    night_job, idle, used_long_ago = (member.user_token() for _ in range(3))
    assert is_alive(member, used_long_ago)
    service.advance("PT25H")
    assert is_alive(member, night_job)
    scripts = [member.user_token() for _ in range(97)]
    service.advance("PT23H")

    more = [member.user_token() for _ in range(3)]

    # The second of them ended the idle one, the third the one whose last use came after that.
    assert is_alive(member, night_job)
    assert not is_alive(member, idle)
    assert not is_alive(member, used_long_ago)
    assert all(is_alive(member, one) for one in [scripts[1], scripts[96], *more])
    auditor = new_operator(service, "audit")
    events = auditor.get("/audit", event="user:token:revoke", limit="10").json()["events"]
    ended = {json.dumps(one) for one in events if one["reason"] == "too-many-tokens"}
    for token in (idle, used_long_ago):
        jti = jwt.decode(token, options={"verify_signature": False})["jti"]
        assert any(jti in one for one in ended)


@pytest.mark.slow
def test_no_token_of_today_ends_while_one_was_not_used_today(service: Service) -> None:
    """Medium 10: even where the other one was issued later."""
    member = new_member(service)
    tokens = [member.user_token() for _ in range(99)]
    assert all(is_alive(member, token) for token in tokens)
    service.advance("PT12H")
    unused, last = member.user_token(), member.user_token()

    assert not is_alive(member, unused)
    assert all(is_alive(member, token) for token in [tokens[0], tokens[98], last])


def test_a_flood_of_one_account_or_address_is_passed_by_the_others() -> None:
    """Medium 10: whatever waits of one key, another's is next."""

    async def run() -> list[str]:
        queue, served = Queue(1, 60.0), list[str]()

        async def hashed(account: str, address: str) -> None:
            async with queue.turn(f"account:{account}", f"origin:{address}"):
                served.append(account)
                await asyncio.sleep(0)

        flood = [("attacker", "198.51.100.1")] * 40
        others = [("neighbor", "198.51.100.1"), ("member", "203.0.113.9")]
        async with queue.turn("another"):
            asked = [asyncio.create_task(hashed(*one)) for one in flood + others]
            await asyncio.sleep(0)
        await asyncio.gather(*asked)
        assert queue.remembered == 0
        return served

    served = asyncio.run(run())

    assert served.index("member") == 1
    assert served.index("neighbor") == 41


def test_an_address_fails_ten_times_also_at_once(service: Service) -> None:
    """Low: eleven for ten in a race."""
    address = new_address()
    client_of = [service.client(address) for _ in range(16)]

    async def guess(_: httpx2.AsyncClient, n: int) -> int:
        answer = await asyncio.to_thread(
            sign_in, client_of[n], f"n{n}@nowhere.example", "a guess that is wrong"
        )
        return answer.status_code

    codes = Counter(at_once(service, 16, guess))

    while codes[401] < 10:
        codes[sign_in(client_of[0], "more@nowhere.example", "wrong").status_code] += 1
    assert codes[401] == 10
    assert sign_in(client_of[0], "last@nowhere.example", "wrong").status_code == 429


def test_forgot_password_leaves_the_account_to_a_job(service: Service) -> None:
    """Medium 11: the answer is stored as a request, and the email comes by the job."""
    _, email = onboard(service)
    before = len(mails(service, email))
    answers = [
        service.client().post("/v1/user/password/forgot", json={"username": name})
        for name in (email, "nobody@member.example")
    ]

    assert [answer.status_code for answer in answers] == [202, 202]
    until(lambda: len(mails(service, email)) == before + 1)


@pytest.mark.parametrize(
    ("name", "password", "fault"),
    [
        ("Asha Rao", "admin@bank.example", PasswordFault.YOUR_ADDRESS),
        ("Asha Rao", "ADMIN@bank.example", PasswordFault.YOUR_ADDRESS),
        ("Account Aggregator", "account aggregator", PasswordFault.YOUR_NAME),
    ],
)
def test_a_password_is_not_the_user_name(name: str, password: str, fault: PasswordFault) -> None:
    """Low: also where each of its words is too general to be refused by itself."""
    refused = check_password(password, PasswordContext("admin@bank.example", name))

    assert refused == PasswordRefusal(fault)


@pytest.mark.parametrize("address", ["dev@quick", "a@b"])
def test_an_address_has_a_domain(address: str) -> None:
    assert isinstance(normalize_email(address), AddressRefused)
