"""The token source against a small real issuer."""

import asyncio
import threading
from email.utils import format_datetime

import pytest
from tests.support.audit.audit_rows import NOON
from tests.support.issuer import Hands, Issuer

from mudra.client import (
    AsyncEntityTokenSource,
    EntityTokenSource,
    SecretRefused,
    SecretUnreadable,
    ServiceUnavailable,
    TooManyRequests,
)

LIFE = 86400


@pytest.fixture
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.close()


class Program:
    """A member's program: where its secret is, its clock, its warnings."""

    def __init__(self, issuer, kind=EntityTokenSource):
        self.secret = "the-secret"
        self.reads = 0
        self.warnings = []
        self.steady = Hands(0)
        self.tokens = kind(
            issuer.url,
            "HDFC-FIP",
            self.read,
            on_warning=self.warnings.append,
            steady=self.steady,
            chance=lambda: 0.5,
        )

    def read(self):
        self.reads += 1
        if self.secret is None:
            raise OSError("secret is gone: the-secret")
        return self.secret


@pytest.fixture
def program(issuer):
    program = Program(issuer)
    yield program
    program.tokens.close()


def test_a_token_is_asked_for_once_and_kept(issuer, program):
    assert [program.tokens.token() for _ in range(5)] == ["token-1"] * 5
    assert program.tokens.authorization() == "Bearer token-1"
    assert issuer.requests == ["/iam/v1/entity/token/generate"]
    assert issuer.seen_forms == [{"id": ["HDFC-FIP"], "secret": ["the-secret"]}]


def test_it_is_renewed_at_80_percent_of_its_life(program):
    seen = []
    for program.steady.now in (0, LIFE * 0.79, LIFE * 0.81):
        seen.append(program.tokens.token())

    assert seen == ["token-1", "token-1", "token-2"]


def test_an_outage_is_not_felt_while_the_token_lives(issuer, program):
    program.tokens.token()
    issuer.token_status = 503

    program.steady.now = LIFE - 1
    assert program.tokens.token() == "token-1"
    program.steady.now = LIFE + 5
    with pytest.raises(ServiceUnavailable):
        program.tokens.token()


def test_an_unreachable_service_is_reported_without_the_secret(issuer, program):
    issuer.close()

    with pytest.raises(ServiceUnavailable, match="could not be reached") as error:
        program.tokens.token()

    assert "the-secret" not in str(error.value)


def test_after_a_401_the_secret_is_read_again(issuer, program):
    program.tokens.token()
    issuer.secrets, program.secret = {"the-next-secret"}, "the-next-secret"

    program.steady.now = LIFE * 0.9

    assert program.tokens.token() == "token-3"
    assert [form["secret"] for form in issuer.seen_forms] == [
        ["the-secret"],
        ["the-secret"],
        ["the-next-secret"],
    ]


def test_a_wrong_secret_is_tried_once_and_then_not_for_a_while(issuer, program):
    issuer.secrets = {"another"}

    for _ in range(10):
        with pytest.raises(SecretRefused, match="Unauthorized"):
            program.tokens.token()

    assert len(issuer.requests) == 1
    program.steady.now, program.secret = 5, "another"
    assert program.tokens.token() == "token-2"


def test_the_services_pause_is_kept(issuer, program):
    issuer.token_status, issuer.token_headers = 429, {"retry-after": "60"}

    for program.steady.now in (0, 30, 59):
        with pytest.raises(TooManyRequests):
            program.tokens.token()

    assert len(issuer.requests) == 1


def test_grace_is_reported_once_and_the_secret_is_read_at_every_renewal(issuer, program):
    issuer.token_answer = {"message": "the secret was replaced"}
    issuer.token_headers = {"sunset": format_datetime(NOON, usegmt=True)}

    for program.steady.now in (0, LIFE * 0.81, LIFE * 2):
        program.tokens.token()

    assert [(w.message, w.ends) for w in program.warnings] == [("the secret was replaced", NOON)]
    assert program.reads == 3


def test_an_unreadable_secret_is_reported_without_its_text(program):
    program.secret = None

    with pytest.raises(SecretUnreadable, match="OSError") as error:
        program.tokens.token()

    assert "the-secret" not in str(error.value)


def test_a_token_that_a_peer_refused_is_replaced(program):
    token = program.tokens.token()
    program.steady.now = 60

    program.tokens.token_was_refused(token)

    assert program.tokens.token() == "token-2"


@pytest.mark.parametrize("status", [401, 429, 503])
def test_a_token_that_one_peer_refused_stays_in_use_without_the_service(issuer, program, status):
    token = program.tokens.token()
    issuer.token_status = status

    for program.steady.now in (60, 61, 70, LIFE - 1):
        assert program.tokens.token_instead_of(token) == token
        assert program.tokens.token() == token

    issuer.token_status, program.steady.now = 200, LIFE - 0.5 + 5
    assert program.tokens.token() != token


def test_who_was_refused_waits_for_the_token_that_another_gets(issuer, program):
    token = program.tokens.token()
    program.steady.now = 60
    issuer.hold.clear()
    seen = []
    threads = [
        threading.Thread(target=lambda: seen.append(program.tokens.token_instead_of(token)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    while threads[0].is_alive() and len(issuer.requests) < 2:
        threads[0].join(0.001)

    assert program.tokens.token() == token
    issuer.hold.set()
    for thread in threads:
        thread.join()

    assert seen == ["token-2"] * 4
    assert len(issuer.requests) == 2


def test_a_task_whose_token_was_refused_keeps_it_until_there_is_another(issuer):
    async def ask():
        program = Program(issuer, AsyncEntityTokenSource)
        token = await program.tokens.token()
        program.steady.now, issuer.token_status = 60, 503
        seen = [await program.tokens.token_instead_of(token), await program.tokens.token()]
        program.steady.now, issuer.token_status = 66, 200
        seen += await asyncio.gather(*(program.tokens.token_instead_of(token) for _ in range(4)))
        await program.tokens.aclose()
        return seen

    assert asyncio.run(ask()) == ["token-1"] * 2 + ["token-3"] * 4


def test_many_threads_cause_one_request(issuer, program):
    issuer.hold.clear()
    seen = []
    threads = [
        threading.Thread(target=lambda: seen.append(program.tokens.token())) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    issuer.hold.set()
    for thread in threads:
        thread.join()

    assert seen == ["token-1"] * 8
    assert len(issuer.requests) == 1


def test_the_others_go_on_while_one_renews(issuer, program):
    program.tokens.token()
    program.steady.now = LIFE * 0.9
    issuer.hold.clear()
    one = threading.Thread(target=program.tokens.token)
    one.start()
    while len(issuer.requests) < 2:
        one.join(0.001)

    assert program.tokens.token() == "token-1"

    issuer.hold.set()
    one.join()
    assert program.tokens.token() == "token-2"


def test_many_tasks_cause_one_request(issuer):
    async def ask():
        program = Program(issuer, AsyncEntityTokenSource)
        seen = await asyncio.gather(*(program.tokens.token() for _ in range(8)))
        program.steady.now = LIFE * 0.9
        seen.append(await program.tokens.authorization())
        await program.tokens.aclose()
        return seen

    assert asyncio.run(ask()) == ["token-1"] * 8 + ["Bearer token-2"]
    assert len(issuer.requests) == 2


def test_a_secret_may_be_read_by_a_coroutine_and_again_after_a_401(issuer):
    secrets = iter(["old", "the-secret"])

    async def read():
        return next(secrets)

    async def ask():
        steady = Hands(0)
        issuer.secrets = {"old"}
        tokens = AsyncEntityTokenSource(issuer.url, "HDFC-FIP", read, steady=steady)
        seen = [await tokens.token()]
        issuer.secrets = {"the-secret"}
        steady.now = LIFE
        seen.append(await tokens.token())
        await tokens.aclose()
        return seen

    assert asyncio.run(ask()) == ["token-1", "token-3"]


def test_a_token_that_ends_at_once_is_no_endless_loop(issuer, program):
    issuer.token_answer = {"expiresIn": 1}
    program.tokens._steady = iter(range(0, 1000, 2)).__next__

    with pytest.raises(Exception, match="expired before it could be used"):
        program.tokens.token()

    assert len(issuer.requests) == 1


def test_an_address_in_the_clear_is_refused_at_once():
    with pytest.raises(ValueError, match="is not https"):
        EntityTokenSource("http://iam.example.org/iam", "HDFC-FIP", str)
