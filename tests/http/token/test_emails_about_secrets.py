"""Emails that a secret's life brings about: reset, reminders, an old one still in use."""

import json
from collections.abc import Iterator, Sequence
from functools import partial

import pytest
from tests.support.mailbox import mails, subjects
from tests.support.members import Member, link_for_who_forgot, new_member, set_password
from tests.support.process import running_service
from tests.support.service import Service
from tests.support.until import until

from mudra.bootstrap.dependencies import Dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted, History
from mudra.tokens.reminders.remind import to_remind

WAITS_S = 21 * 3600
"""Of a hundred guesses, together; those from the fourteenth on wait 15 minutes each."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service of its own: these tests move time by months."""
    with running_service(tmp_path_factory.mktemp("letters") / "data", keeps_store=True) as running:
        yield running


def about(member: Member) -> list[str]:
    """Subjects of the letters to a member's admin, without the invitation."""
    return subjects(member.service, member.email)[1:]


def expect(member: Member, *wanted: str) -> None:
    """Wait for exactly these letters."""
    until(lambda: about(member) == list(wanted), lambda: about(member))


async def looked_at(dependencies: Dependencies) -> Sequence[str]:
    """The entities that the next run of reminders takes one by one."""
    async with dependencies.transaction() as tx:
        return await to_remind(tx)


def test_a_reset_is_notified_with_who_did_it_and_what_becomes_of_the_old_secret(own: Service):
    member = new_member(own)

    member.reset(oldSecretValidity=7)

    message = mails(own, member.email)[-1]
    assert "was reset" in message["subject"]
    assert f"by {member.email}" in message["text"]
    assert "The old secret works until" in message["text"]


def test_a_refused_reset_notifies_no_one(own: Service):
    member = new_member(own)
    member.reset()

    assert member.reset().status_code == 429

    assert len(about(member)) == 1


def test_reminders_come_once_each_and_late_ones_as_one(own: Service):
    """S9: each reminder once."""
    member = new_member(own)
    contact = "the backup contact was changed"
    reset = "the entity secret was reset"
    expiry = "the entity secret expires in {} days"
    operator = f"staff-of-{member.entity_id.lower()}@member.example"
    ask = {"json": {"entityId": member.entity_id, "email": operator}, "headers": member.bearer()}
    assert member.client.post("/v1/entity/contact/set", **ask).status_code == 200
    member.reset(secretExpiryDays=40)

    own.advance("P9D")
    expect(member, contact, reset)
    own.advance("P1DT1M")
    expect(member, contact, reset, expiry.format(30))
    own.advance("PT12H")
    # 14 and 7 days are both passed over: one email shows what is left.
    own.advance("P25D")
    expect(member, contact, reset, expiry.format(30), expiry.format(5))
    own.advance("P20D")
    ended = "the entity secret has expired"
    expect(member, contact, reset, expiry.format(30), expiry.format(5), ended)
    own.advance("P20D")
    expect(member, contact, reset, expiry.format(30), expiry.format(5), ended)
    # The backup contact has read the same.
    assert subjects(own, operator) == subjects(own, member.email)[1:]
    # And no later run has to look at the member, though its secret stays expired.
    assert member.entity_id not in own.in_store(looked_at)


def test_a_reminder_carries_the_date_for_the_calendar(own: Service):
    member = new_member(own)
    member.reset(secretExpiryDays=31)
    own.advance("P1DT1M")

    until(lambda: len(about(member)) == 2)

    newest = mails(own, member.email)[-1]
    shown = json.loads(own.cli("mail", "show", newest["id"], "--json").stdout)
    (file,) = shown["attachments"]
    assert (file["name"], file["mediaType"]) == ("secret-expiry.ics", "text/calendar")
    assert "BEGIN:VEVENT" in file["content"]
    assert "secret-expiry.ics" in own.cli("mail", "show", newest["id"]).stdout


def test_no_reminder_after_the_reset(own: Service):
    """S9: each reminder once."""
    member = new_member(own)
    member.reset(secretExpiryDays=31)
    member.service.advance("PT6M")
    member.reset(secretExpiryDays=180)

    own.advance("P20D")
    other = new_member(own)
    other.reset(secretExpiryDays=2)
    own.advance("P1DT1M")

    expect(other, "the entity secret was reset", "the entity secret expires in 1 day")
    assert about(member) == ["the entity secret was reset"] * 2


def test_an_old_secret_in_use_is_notified_in_its_last_day_once(own: Service):
    member = new_member(own)
    old = member.secret()
    headers = member.bearer()  # one sign-in for all that is asked until it is so
    member.reset(headers, oldSecretValidity=7)
    member.entity_token(old)
    until(lambda: use(member, headers)["old"]["count"] == 1)
    own.advance("P6DT1H")
    used = "the old secret is still in use"
    # Used at the start only: the programs have the new one since.
    quiet = about(member)
    assert member.entity_token(old).status_code == 200
    # Uses are written twice a second; the reminder that the clock brings about may be sooner.
    until(lambda: use(member, headers)["old"]["count"] == 2)

    own.advance("PT1H")
    until(lambda: used in about(member))
    own.advance("PT1H")

    assert used not in quiet
    assert about(member).count(used) == 1
    text = mails(own, member.email)[-1]["text"]
    assert "2 times since the reset. The calls came from 1 address." in text


def test_an_admin_sees_the_use_of_both_secrets(own: Service):
    member = new_member(own)
    old = member.secret()
    for _ in range(3):
        member.entity_token(old)
    headers = member.bearer()
    new = member.reset(headers, oldSecretValidity=7).json()["secret"]
    until(lambda: use(member, headers)["old"]["count"] == 3)
    own.advance("PT26H")
    member.entity_token(new)

    until(lambda: use(member, headers)["current"]["count"] == 1)
    answer = use(member, headers)

    assert answer["old"]["summary"] == "last used 26 hours ago from 1 address"
    assert answer["old"]["count"] == 3
    assert answer["current"]["addressCount"] == 1
    assert "sealed" not in str(answer)
    assert old not in str(answer)


def test_the_use_of_another_entity_is_refused(own: Service):
    mine, other = new_member(own), new_member(own)

    answer = mine.client.get(
        "/v1/entity/secret/use", params={"entityId": other.entity_id}, headers=mine.bearer()
    )

    assert answer.status_code == 401
    assert answer.json()["errorCode"] == "Unauthorized"


@pytest.mark.parametrize("query", ["", "entityId=", "entityId=A&entityId=B"])
def test_a_wrong_query_is_notified(own: Service, query: str):
    member = new_member(own)

    answer = member.client.get(f"/v1/entity/secret/use?{query}", headers=member.bearer())

    assert answer.status_code == 400
    assert "entityId" in answer.json()["errorMsg"]


def use(member: Member, headers: dict[str, str] | None = None) -> dict:
    answer = member.client.get(
        "/v1/entity/secret/use",
        params={"entityId": member.entity_id},
        headers=headers or member.bearer(),
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_the_old_secret_is_let_go_early(own: Service):
    member = new_member(own)
    old = member.secret()
    member.reset(oldSecretValidity=7)
    ask = {"json": {"entityId": member.entity_id}, "headers": member.bearer()}

    first = member.client.post("/v1/entity/secret/retire", **ask)
    refused = member.entity_token(old)
    second = member.client.post("/v1/entity/secret/retire", **ask)

    assert first.status_code == 200
    assert first.json()["oldSecretValidity"] == 0
    assert refused.json()["errorCode"] == "SecretGraceEnded"
    assert second.status_code == 409


@pytest.mark.parametrize(
    ("guessed", "notices"),
    [
        ((range(48, 51), range(95, 100)), (50,)),
        pytest.param((range(100),), (5, 20, 50), marks=pytest.mark.slow),
    ],
    ids=["a-few-of-them", "all"],
)
def test_a_hundred_guesses_take_21_hours_are_notified_three_times_and_end_by_a_link(
    own: Service, guessed: tuple[range, ...], notices: tuple[int, ...]
):
    """A1: the waits are passed by the clock, for exactly as long as each answer says.

    Failures that are not guessed are written where they are counted.
    """
    member = new_member(own)
    wrong = {"username": member.email, "password": "not-the-password-at-all"}
    guesser, waited = own.client(), 0

    for stretch in guessed:
        own.in_store(partial(failed, member=member, times=stretch.start))
        counted = stretch.start
        while counted < stretch.stop:
            answer = guesser.post("/v1/user/token/generate", data=wrong)
            if answer.status_code == 401:
                counted += 1
                if counted % 9 == 0:
                    guesser = own.client()  # ten failures would close the address
                continue
            assert answer.status_code == 429, answer.text
            waited += int(answer.headers["retry-after"])
            own.advance(f"PT{answer.headers['retry-after']}S")

    reported = [f"{at} failed sign-ins to your account" for at in notices]
    expect(member, *reported)
    assert waited >= WAITS_S * sum(map(len, guessed)) / 100
    assert "after 100 failures the password is disabled" in mails(own, member.email)[-1]["text"]

    # Off: neither the right password nor a wait opens it, and no one hears of it again.
    own.advance("PT16M")
    right = {"username": member.email, "password": member.password}
    assert member.client.post("/v1/user/token/generate", data=right).status_code == 401
    assert guesser.post("/v1/user/token/generate", data=wrong).status_code == 401
    another = "another otter velvet lamp"
    assert set_password(member.client, link_for_who_forgot(member), another).status_code == 200
    opened = {"username": member.email, "password": another}
    assert member.client.post("/v1/user/token/generate", data=opened).status_code == 200
    expect(member, *reported, "reset your password", "your password was changed")


async def failed(dependencies: Dependencies, member: Member, times: int) -> None:
    """Let a member's sign-in have failed so often until now."""
    async with dependencies.transaction() as tx:
        now = await People(tx).now()
        await Attempts(tx).save(Counted.PASSWORD, member.email, History(times, now))
