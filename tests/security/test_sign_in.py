"""Signing in against one who guesses."""

import asyncio
import re
from collections import Counter
from datetime import timedelta

import httpx2
import pytest
import sqlalchemy as sa
from tests.support.cheap_hashes import MEMORY_KIB
from tests.support.depth import DEEP
from tests.support.error_body import assert_error
from tests.support.hostile.simultaneous import at_once
from tests.support.mailbox import latest_link, mails
from tests.support.members import Member, link_for_who_forgot, new_member, onboard, set_password
from tests.support.service import PASSWORD, Service
from tests.support.until import until

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.password_hash import Argon2Passwords
from mudra.identity.accounts.people_store import People
from mudra.shared.secret_text import SecretText
from mudra.storage.tables.identity import address_failure, throttle

GENERATE = "/v1/user/token/generate"


def attempt(
    client: httpx2.Client, name: str, password: str = "a guess that is wrong"
) -> httpx2.Response:
    return client.post(GENERATE, data={"username": name, "password": password})


def as_seen(answer: httpx2.Response) -> tuple[object, ...]:
    """All that a guesser sees, without what differs in any two answers."""
    volatile = {"date", "x-request-id"}
    body = re.sub(rb'"(timestamp|txnId)":"[^"]*"', b"", answer.content)
    return (
        answer.status_code,
        [(k, b"" if k.decode().lower() in volatile else v) for k, v in answer.headers.raw],
        body,
    )


def older_by(service: Service, seconds: int) -> None:
    """Let all failures be so much longer ago, so that waits are over.

    To move the clock does the same, and wakes a dozen jobs each time.
    """
    ago = timedelta(seconds=seconds)

    async def age(dependencies: Dependencies) -> None:
        async with dependencies.database.transaction() as transaction:
            for table, column in (
                (throttle, throttle.c.last_failure_at),
                (address_failure, address_failure.c.at),
            ):
                await transaction.connection.execute(
                    sa.update(table).values({column: column - ago})
                )

    service.in_store(age)


def test_unknown_wrong_and_invited_cannot_be_notified_apart_over_30_failures(
    service: Service,
) -> None:
    """A2, A7: the address limit is reached as well; every wait is over before the next round."""
    member = new_member(service)
    _, invited = onboard(service)
    names = [member.email, invited, "nobody@member.example", "no address at all"]
    clients = {name: service.client() for name in names}

    for round_number in range(30):
        seen = {name: as_seen(attempt(clients[name], name)) for name in names}
        again = (
            {name: attempt(clients[name], name) for name in names} if round_number % 10 == 9 else {}
        )

        assert len({repr(s) for s in seen.values()}) == 1, (round_number, seen)
        assert len({(a.status_code, a.json()["errorCode"]) for a in again.values()}) <= 1
        older_by(service, 16 * 60)


def test_three_failures_are_free_then_the_waits_double(service: Service) -> None:
    """A1: guesses are few and slow."""
    member = new_member(service)
    waits: list[int] = []
    failures: list[int] = []  # how many were counted before each wait

    while len(waits) < 6:
        answer = attempt(service.client(), member.email)
        if answer.status_code == 401:
            failures.append(len(waits))
            continue
        assert_error(answer, 429, "TooManyAttempts", "Retry-After")
        waits.append(int(answer.headers["retry-after"]))
        older_by(service, waits[-1])

    assert failures[:4] == [0, 0, 0, 0]  # three are free, the fourth starts the first wait
    assert waits[2:] == pytest.approx([4, 8, 16, 32], abs=1)
    right = attempt(service.client(), member.email, member.password)
    assert right.status_code == 200


def test_a_right_password_clears_the_count(service: Service) -> None:
    """A1: guesses are few and slow."""
    member = new_member(service)
    for _ in range(3):
        attempt(service.client(), member.email)

    assert attempt(member.client, member.email, member.password).status_code == 200
    after = [attempt(service.client(), member.email).status_code for _ in range(4)]

    assert after == [401] * 4


def test_ten_failures_close_an_address_for_five_minutes_and_no_forged_header_opens_it(
    service: Service,
) -> None:
    """A3, A4: forged headers count for nothing."""
    client = service.client()
    for n in range(10):
        answer = client.post(
            GENERATE,
            data={"username": f"n{n}@x.example", "password": "wrong"},
            headers={"X-Forwarded-For": f"203.0.113.{n}", "Forwarded": f"for=203.0.113.{n}"},
        )
        assert answer.status_code == 401

    closed = client.post(
        GENERATE,
        data={"username": "n99@x.example", "password": "wrong"},
        headers={"X-Forwarded-For": "203.0.113.99", "X-Real-IP": "203.0.113.99"},
    )
    elsewhere = attempt(service.client(), "n99@x.example")
    older_by(service, int(closed.headers["retry-after"]))
    later = attempt(client, "n98@x.example")

    assert_error(closed, 429, "TooManyAttempts", "Retry-After")
    assert 290 <= int(closed.headers["retry-after"]) <= 300
    assert elsewhere.status_code == 401
    assert later.status_code == 401


def test_wrong_secrets_never_lock_an_entity(service: Service) -> None:
    """A5: an entity is never locked."""
    member = new_member(service)
    secret = member.secret()

    wrong = [member.entity_token("wrong").status_code for _ in range(60)]

    assert set(wrong) == {401}
    assert member.entity_token(secret).status_code == 200


def test_an_entity_is_limited_by_address_only_where_it_asks_too_often(service: Service) -> None:
    """A5: an entity is never locked."""
    member = new_member(service)
    client = service.client()
    answers = [
        client.post("/v1/entity/token/generate", data={"id": member.entity_id, "secret": "x"})
        for _ in range(450)
    ]
    limited = [answer for answer in answers if answer.status_code == 429]

    elsewhere = service.client().post(
        "/v1/entity/token/generate", data={"id": member.entity_id, "secret": "x"}
    )

    assert limited
    assert_error(limited[0], 429, "TooManyAttempts", "Retry-After")
    assert int(limited[0].headers["retry-after"]) >= 1
    assert all(answer.status_code == 401 for answer in answers[:200])
    assert elsewhere.status_code == 401


USES = 100 if DEEP else 20


@pytest.mark.deeper
def test_many_uses_of_one_link_at_once_give_one_success(service_of_two: Service) -> None:
    """A12: one-use links. Two workers, since one of them alone hashes one password at a time."""
    service = service_of_two
    _, email = onboard(service)
    link = latest_link(service, email)
    passwords = [f"granite otter velvet lamp {n:03}" for n in range(USES)]
    token = link.rpartition("/")[2]

    async def use(client: httpx2.AsyncClient, n: int) -> httpx2.Response:
        for _ in range(200):
            answer = await client.post(
                "/v1/user/password/set", json={"token": token, "password": passwords[n]}
            )
            if answer.status_code != 503:
                return answer
            await asyncio.sleep(0.2)  # sooner than allowed, later than at once
        raise AssertionError("busy for ever")

    answers = at_once(service, USES, use)

    codes = Counter(answer.status_code for answer in answers)
    assert codes == {200: 1, 401: USES - 1}
    won = passwords[next(n for n, answer in enumerate(answers) if answer.status_code == 200)]
    assert attempt(service.client(), email, won).status_code == 200


@pytest.mark.parametrize(
    ("just_before", "rest", "invitation"), [("PT23H59M", "PT2M", True), ("PT59M", "PT2M", False)]
)
def test_a_link_ends_on_time(
    service: Service, just_before: str, rest: str, invitation: bool
) -> None:
    """A12: one-use links."""
    link = (
        latest_link(service, onboard(service)[1])
        if invitation
        else link_for_who_forgot(new_member(service))
    )
    client = service.client()

    service.advance(just_before)
    open_still = client.get(link)
    service.advance(rest)
    ended, refused = client.get(link), set_password(client, link)

    assert open_still.status_code == 200
    assert ended.status_code == 410
    assert_error(refused, 401, "Unauthorized", "token has expired")


def test_a_newer_link_voids_the_older(service: Service) -> None:
    """A12: one-use links."""
    invited, client = onboard(service), service.client()
    older = latest_link(service, invited[1])
    newer = link_for_who_forgot(Member(service, *invited, PASSWORD, client))

    assert newer != older
    assert_error(set_password(client, older), 401, "Unauthorized", "replaced by a newer link")
    assert set_password(client, newer).status_code == 200


def test_forgot_answers_every_name_alike(service: Service) -> None:
    """A7: the same bytes."""
    member, client = new_member(service), service.client()
    _, invited = onboard(service)

    seen = [
        as_seen(client.post("/v1/user/password/forgot", json={"username": name}))
        for name in (
            member.email,
            invited,
            "nobody@member.example",
            "no address",
            member.email.upper(),
        )
    ]

    assert len({repr(s) for s in seen}) == 1
    assert seen[0][0] == 202


def test_links_come_from_the_settings_whatever_the_request_says(service: Service) -> None:
    """A12: one-use links."""
    member = new_member(service)
    forged = {
        "Host": "evil.example",
        "X-Forwarded-Host": "evil.example",
        "Forwarded": "host=evil.example",
        "Origin": "https://evil.example",
    }

    assert link_for_who_forgot(member, forged).startswith(f"{service.issuer}/activate/")


@pytest.mark.slow
def test_three_links_in_six_hours_and_five_in_a_day_go_to_one_person(service: Service) -> None:
    """A13: how often a link goes out, the invitation among them; the answer never says."""
    member, client = new_member(service), service.client()

    def links() -> int:
        return sum(len(message["links"]) for message in mails(service, member.email))

    def links_after(moved: str, expected: int) -> int:
        service.advance(moved)
        for _ in range(4):
            asked = client.post("/v1/user/password/forgot", json={"username": member.email})
            assert asked.status_code == 202
        until(lambda: links() == expected, links)  # a job sends them
        return links()

    expected = {"PT0S": 3, "PT5H30M": 3, "PT40M": 5, "PT17H20M": 5, "PT40M0S": 8}
    sent = {moved: links_after(moved, count) for moved, count in expected.items()}

    assert sent == expected


def test_a_change_of_password_ends_the_users_tokens(member: Member) -> None:
    """A14: tokens end with the change."""
    old = member.bearer()

    set_password(member.client, link_for_who_forgot(member), "another otter velvet lamp")

    assert_error(member.read(old), 401, "TokenRevoked", "revoked")


def test_a_sign_in_rehashes_a_password_hashed_under_other_parameters(service: Service) -> None:
    """A11: parameters and pepper."""
    member = new_member(service)

    async def stored(dependencies: Dependencies) -> str:
        async with dependencies.transaction() as tx:
            user = await People(tx).by_username(member.email)
        assert user is not None
        assert user.password_hash is not None
        return user.password_hash

    async def hash_as_of_old(dependencies: Dependencies) -> None:
        former = Argon2Passwords(dependencies.encryption.password_pepper, 24)
        hashed = await former.hash(SecretText(member.password))
        former.close()
        assert isinstance(hashed, str)
        async with dependencies.transaction() as tx:
            user = await People(tx).by_username(member.email)
            assert user is not None
            await People(tx).set_password(user.user_id, hashed)

    async def noted(dependencies: Dependencies) -> int:
        async with dependencies.database.transaction() as transaction:
            found = await transaction.connection.scalar(
                sa.text(
                    "SELECT count(*) FROM audit_event JOIN user_account"
                    " ON user_id::text = detail->>'user'"
                    " WHERE event = 'user:password:rehash' AND email = :email"
                ),
                {"email": member.email},
            )
            return int(found)

    service.in_store(hash_as_of_old)
    assert "m=24576," in service.in_store(stored)

    assert attempt(member.client, member.email, "a guess that is wrong").status_code == 401
    assert "m=24576," in service.in_store(stored)
    assert attempt(member.client, member.email, member.password).status_code == 200

    rehashed = service.in_store(stored)
    assert f"m={MEMORY_KIB}," in rehashed
    assert attempt(member.client, member.email, member.password).status_code == 200
    assert service.in_store(stored) == rehashed
    assert service.in_store(noted) == 1
