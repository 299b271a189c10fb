"""Every row of specification part 3, on one worker and on two."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import httpx2
import pytest
import sqlalchemy as sa
from tests.support.hostile.simultaneous import tokens_of_every_worker
from tests.support.members import Member
from tests.support.service import Service

from mudra.bootstrap.dependencies import Dependencies
from mudra.storage.tables.tokens import entity_secret

DAY = timedelta(days=1)
ISO_MS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def instant(text: str) -> datetime:
    assert ISO_MS.fullmatch(text), text
    return datetime.fromisoformat(text)


def code(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errorCode"]


def said(answers: list[httpx2.Response]) -> set[tuple[int, str]]:
    return {(a.status_code, a.json().get("errorCode", "")) for a in answers}


OK = {(200, "")}
WRONG = {(401, "Unauthorized")}


@pytest.mark.parametrize("asked", [{}, {"oldSecretValidity": 0}], ids=["omitted", "zero"])
def test_without_grace_the_old_secret_is_invalid_at_once_on_every_worker(
    each_member: Member, asked: dict[str, int]
) -> None:
    old = each_member.secret()
    assert said(tokens_of_every_worker(each_member, old)) == OK  # in the memory of all

    reset = each_member.reset(**asked).json()

    assert said(tokens_of_every_worker(each_member, old)) == WRONG
    assert said(tokens_of_every_worker(each_member, reset["secret"])) == OK
    assert reset["oldSecretValidity"] == 0


def test_in_grace_both_secrets_give_tokens_and_only_the_old_one_a_warning(
    each_member: Member,
) -> None:
    old = each_member.secret()
    headers = each_member.bearer()
    tokens_of_every_worker(each_member, old)

    reset = each_member.reset(headers, oldSecretValidity=3).json()

    shown = each_member.read(headers).json()
    grace_ends = instant(shown["oldSecretExpirationDate"])
    for answer in tokens_of_every_worker(each_member, old):
        assert answer.status_code == 200
        assert shown["oldSecretExpirationDate"] in answer.json()["message"]
        assert parsedate_to_datetime(answer.headers["Sunset"]) == grace_ends.replace(microsecond=0)
    for answer in tokens_of_every_worker(each_member, reset["secret"]):
        assert answer.status_code == 200
        assert "message" not in answer.json()
        assert "sunset" not in answer.headers
    assert reset["oldSecretValidity"] == shown["oldSecretValidity"] == 3


@pytest.mark.parametrize("days", [1, 7])
def test_grace_ends_after_its_days_and_only_the_old_secret_reveals_so(
    each_member: Member, days: int
) -> None:
    service, old = each_member.service, each_member.secret()
    new = each_member.reset(oldSecretValidity=days).json()["secret"]

    service.advance(f"P{days - 1}DT23H59M")
    assert said(tokens_of_every_worker(each_member, old)) == OK
    service.advance("PT1M")

    assert said(tokens_of_every_worker(each_member, old)) == {(401, "SecretGraceEnded")}
    assert said(tokens_of_every_worker(each_member, "x" * 43)) == WRONG
    assert said(tokens_of_every_worker(each_member, old[:-1])) == WRONG
    assert said(tokens_of_every_worker(each_member, new)) == OK
    shown = each_member.read().json()
    assert shown["oldSecretValidity"] == 0
    assert "oldSecretExpirationDate" not in shown


def test_a_second_reset_inside_a_grace_ends_the_older_one(each_member: Member) -> None:
    service, first = each_member.service, each_member.secret()
    second = each_member.reset(oldSecretValidity=7).json()["secret"]
    service.advance("PT6M")

    third = each_member.reset(oldSecretValidity=7).json()["secret"]

    assert said(tokens_of_every_worker(each_member, first)) == {(401, "SecretGraceEnded")}
    assert said(tokens_of_every_worker(each_member, second)) == OK
    assert said(tokens_of_every_worker(each_member, third)) == OK


def test_a_second_reset_without_grace_ends_both_previous_secrets(each_member: Member) -> None:
    service, first = each_member.service, each_member.secret()
    second = each_member.reset(oldSecretValidity=7).json()["secret"]
    service.advance("PT6M")

    third = each_member.reset().json()["secret"]

    assert said(tokens_of_every_worker(each_member, first)) == {(401, "SecretGraceEnded")}
    assert said(tokens_of_every_worker(each_member, second)) == WRONG
    assert said(tokens_of_every_worker(each_member, third)) == OK


def test_grace_never_outlives_the_old_secret_s_own_expiry(each_member: Member) -> None:
    service = each_member.service
    short = each_member.reset(secretExpiryDays=1).json()
    service.advance("PT12H")

    reset = each_member.reset(oldSecretValidity=7).json()

    shown = each_member.read().json()
    assert shown["oldSecretExpirationDate"] == short["expirationDate"]
    # Twelve hours are no whole day.
    assert reset["oldSecretValidity"] == shown["oldSecretValidity"] == 0
    service.advance("PT12H1S")
    assert said(tokens_of_every_worker(each_member, short["secret"])) == {(401, "SecretGraceEnded")}


def test_a_grace_that_is_cut_is_shown_in_whole_days(each_member: Member) -> None:
    each_member.reset(secretExpiryDays=4)
    each_member.service.advance("PT12H")

    reset = each_member.reset(oldSecretValidity=7).json()

    assert reset["oldSecretValidity"] == each_member.read().json()["oldSecretValidity"] == 3


def test_an_expired_secret_gives_no_token_can_be_read_and_can_be_reset(
    each_member: Member,
) -> None:
    service = each_member.service
    reset = each_member.reset(secretExpiryDays=2).json()
    service.advance("P1DT23H59M")
    assert said(tokens_of_every_worker(each_member, reset["secret"])) == OK

    service.advance("PT1M")

    assert said(tokens_of_every_worker(each_member, reset["secret"])) == {(401, "SecretExpired")}
    assert said(tokens_of_every_worker(each_member, "y" * 43)) == WRONG
    shown = each_member.read().json()
    assert shown["secret"] == reset["secret"]
    assert shown["expiresOn"] == reset["expiresOn"]
    renewed = each_member.reset(oldSecretValidity=7).json()
    assert renewed["oldSecretValidity"] == 0  # of no use already: nothing to keep
    assert said(tokens_of_every_worker(each_member, renewed["secret"])) == OK
    assert "oldSecretExpirationDate" not in each_member.read().json()


def test_the_first_secret_and_one_reset_without_days_last_180_days(member: Member) -> None:
    first = member.read().json()
    reset = member.reset().json()

    for answer in (first, reset):
        assert instant(answer["expirationDate"]) - instant(answer["timestamp"]) == pytest.approx(
            180 * DAY, abs=timedelta(seconds=30)
        )
    member.service.advance("P179DT23H59M")
    assert member.entity_token(reset["secret"]).status_code == 200
    member.service.advance("PT1M")
    assert code(member.entity_token(reset["secret"])) == (401, "SecretExpired")


@pytest.mark.parametrize("days", [1, 90, 180])
def test_expires_on_is_in_milliseconds_and_agrees_with_expiration_date(
    member: Member, days: int
) -> None:
    answer = member.reset(secretExpiryDays=days).json()

    expires = instant(answer["expirationDate"])
    assert isinstance(answer["expiresOn"], int)
    assert datetime.fromtimestamp(answer["expiresOn"] / 1000, UTC) == expires
    assert timedelta() <= instant(answer["timestamp"]) + days * DAY - expires < timedelta(seconds=9)


def test_the_responses_of_reset_and_read_have_exactly_their_fields(member: Member) -> None:
    envelope = {"ver", "timestamp", "txnId"}
    secret = {"entityId", "secret", "expiresOn", "expirationDate", "oldSecretValidity"}

    before = member.read().json()
    reset = member.reset(oldSecretValidity=1).json()
    after = member.read().json()

    assert set(before) == set(reset) == envelope | secret
    assert set(after) == envelope | secret | {"oldSecretExpirationDate"}
    assert {name: reset[name] for name in secret} == {name: after[name] for name in secret}
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", reset["secret"])


def test_wrong_days_are_refused_by_name_and_change_nothing(member: Member) -> None:
    headers = member.bearer()
    before = member.read(headers).json()["secret"]

    for name, allowed, beyond in [
        ("secretExpiryDays", "a whole number from 1 to 180", [0, 181, -1]),
        ("oldSecretValidity", "a whole number from 0 to 7", [8, -1]),
    ]:
        for wrong in [*beyond, "3", True, None, []]:
            refused = member.reset(headers, **{name: wrong})
            assert code(refused) == (400, "InvalidRequest"), wrong
            assert f"{name} must be {allowed}" in refused.json()["errorMsg"]
        for no_whole_number in (1.5, 1.0, 10**30):
            refused = member.reset(headers, **{name: no_whole_number})
            assert code(refused) == (400, "InvalidRequest"), no_whole_number

    assert member.read(headers).json()["secret"] == before
    assert member.reset(headers).status_code == 200  # the refusals started no wait


def sealed(member: Member) -> list[tuple[str, bool]]:
    """The state of each of the member's secrets, and whether its text can be read."""

    async def read(dependencies: Dependencies) -> list[tuple[str, bool]]:
        c = entity_secret.c
        async with dependencies.database.transaction() as transaction:
            rows = await transaction.connection.execute(
                sa.select(c.state, c.sealed.is_not(None))
                .where(c.entity_id == member.entity_id)
                .order_by(c.version)
            )
            return [(state, readable) for state, readable in rows]

    return member.service.in_store(read)


def test_only_the_current_secret_is_kept_as_more_than_a_hash(member: Member) -> None:
    headers = member.bearer()
    ask = {"json": {"entityId": member.entity_id}, "headers": headers}

    member.reset(headers, oldSecretValidity=3)
    in_grace = sealed(member)
    retired = member.client.post("/v1/entity/secret/retire", **ask)

    assert in_grace == [("grace", False), ("current", True)]
    assert retired.status_code == 200
    assert sealed(member) == [("ended", False), ("current", True)]


def test_a_secret_that_is_retired_keeps_no_text_whatever_it_had(member: Member) -> None:
    headers = member.bearer()
    member.reset(headers, oldSecretValidity=3)

    async def give_text(dependencies: Dependencies) -> None:
        c = entity_secret.c
        async with dependencies.database.transaction() as transaction:
            old = sa.update(entity_secret).where(c.entity_id == member.entity_id, c.version == 1)
            await transaction.connection.execute(old.values(sealed=b"text"))

    member.service.in_store(give_text)
    assert sealed(member) == [("grace", True), ("current", True)]

    ask = {"json": {"entityId": member.entity_id}, "headers": headers}
    assert member.client.post("/v1/entity/secret/retire", **ask).status_code == 200

    assert sealed(member) == [("ended", False), ("current", True)]


def test_tokens_that_were_issued_outlive_a_reset(service: Service, member: Member) -> None:
    secret = member.secret()
    token = member.entity_token(secret).json()["accessToken"]

    new = member.reset().json()["secret"]

    assert service.introspected(token, member.entity_id, new)["active"] is True
