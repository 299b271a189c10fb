"""The client's verifier follows the issuer's list of revoked tokens, and no one else's."""

import asyncio
import contextlib
import threading

import pytest
from tests.support.issuer import NOW, Hands, Issuer
from tests.support.until import PATIENCE_S

from mudra.client import AsyncTokenVerifier, RevocationsUnavailable, TokenRevoked, TokenVerifier

LIST = "/iam/revocations"


@pytest.fixture
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.close()


@pytest.fixture
def steady():
    return Hands(0)


@pytest.fixture
def verifier(issuer, steady):
    verifier = TokenVerifier(issuer.url, remember=10, wall=Hands(), steady=steady)
    yield verifier
    verifier.close()


def is_accepted(verifier, token):
    try:
        verifier.verify(token)
    except TokenRevoked:
        return False
    return True


def after_refresh(verifier, steady, token):
    """Verify again once the thread that reads the list while tokens pass has ended."""
    steady.now += 15
    is_accepted(verifier, token)
    for thread in threading.enumerate():
        if thread.name == "mudra-revocations":
            thread.join(PATIENCE_S)
    return is_accepted(verifier, token)


@pytest.mark.parametrize(
    "ended",
    [{"revoked": ["jti-1"]}, {"notBefore": {"HDFC-FIP": NOW + 1}}],
)
def test_a_token_in_the_list_is_refused(ended, issuer, verifier):
    issuer.publish_revocations(**ended)

    with pytest.raises(TokenRevoked, match="ended before it expired"):
        verifier.verify(issuer.token())


@pytest.mark.parametrize(
    "others",
    [
        {"revoked": ["jti-2", ""]},
        {"notBefore": {"HDFC-FIP": NOW, "ICICI-FIP": NOW + 1}},
        {},
    ],
)
def test_a_token_that_the_list_does_not_name_passes(others, issuer, verifier):
    issuer.publish_revocations(**others)

    assert verifier.verify(issuer.token()).jti == "jti-1"
    assert LIST in issuer.requests


def test_a_remembered_token_is_refused_once_it_is_revoked(issuer, verifier, steady):
    issuer.publish_revocations()
    token = issuer.token()
    before = is_accepted(verifier, token)

    issuer.publish_revocations(revoked=["jti-1"])

    assert before
    assert not after_refresh(verifier, steady, token)


@pytest.mark.parametrize(
    "forged",
    [
        {"key": Issuer.new_key("key-1")},
        {"key": Issuer.new_key("unknown")},
        {"issuer": "https://another.example/iam"},
        {"issuedAt": NOW - 300, "validUntil": NOW - 61},
        {"issuedAt": NOW + 61, "validUntil": NOW + 120},
        {"revoked": "jti-1"},
        {"notBefore": {"HDFC-FIP": "soon"}},
    ],
    ids=["another key", "unknown key", "another issuer", "old", "future", "form", "type"],
)
def test_a_forged_or_outdated_list_changes_nothing(forged, issuer, verifier):
    issuer.publish_revocations(**{"revoked": ["jti-1"], **forged})

    assert is_accepted(verifier, issuer.token())


def test_a_list_whose_body_was_changed_is_not_taken_over(issuer, verifier):
    issuer.publish_revocations(revoked=["jti-2"])
    status, headers, body = issuer.revocations
    issuer.revocations = status, headers, body.replace(b"jti-2", b"jti-1")

    assert is_accepted(verifier, issuer.token())


def test_an_older_list_does_not_replace_a_newer_one(issuer, verifier, steady):
    issuer.publish_revocations(revoked=["jti-1"], issuedAt=NOW + 5)
    token = issuer.token()
    first = is_accepted(verifier, token)

    issuer.publish_revocations(issuedAt=NOW + 4)

    assert not first
    assert not after_refresh(verifier, steady, token)


def test_without_the_issuer_the_last_list_stays_in_use(issuer, verifier, steady):
    issuer.publish_revocations(revoked=["jti-1"])
    token, other = issuer.token(), issuer.token(jti="jti-2")
    is_accepted(verifier, token)

    issuer.revocations = 503, {}, b""

    assert not after_refresh(verifier, steady, token)
    assert is_accepted(verifier, other)


def test_an_issuer_without_a_list_is_asked_every_ten_minutes(issuer, verifier, steady):
    for _ in range(5):
        verifier.verify(issuer.token())
        steady.now += 100
    asked = issuer.requests.count(LIST)
    steady.now += 100
    verifier.verify(issuer.token())

    assert (asked, issuer.requests.count(LIST)) == (1, 2)


def test_who_insists_on_a_recent_list_refuses_tokens_without_one(issuer, steady):
    verifier = TokenVerifier(issuer.url, max_revocation_age=60, wall=Hands(), steady=steady)
    issuer.publish_revocations()
    verifier.verify(issuer.token())
    issuer.revocations = 503, {}, b""

    steady.now += 60
    verifier.verify(issuer.token())
    steady.now += 1

    with pytest.raises(RevocationsUnavailable, match="60 seconds"):
        verifier.verify(issuer.token())


def test_who_wants_no_list_reads_none(issuer, steady):
    verifier = TokenVerifier(issuer.url, revocations=False, wall=Hands(), steady=steady)
    issuer.publish_revocations(revoked=["jti-1"])

    assert is_accepted(verifier, issuer.token())
    assert LIST not in issuer.requests


def test_a_long_list_is_taken_over(issuer, verifier):
    issuer.publish_revocations(revoked=["jti-1", *(f"jti-of-another-{n}" for n in range(9000))])

    assert not is_accepted(verifier, issuer.token())


def test_an_endless_list_is_cut(issuer, verifier):
    issuer.revocations = 200, {}, b" " * (9 * 1024 * 1024)

    assert is_accepted(verifier, issuer.token())


def test_many_tasks_read_one_list_and_all_wait_for_the_first(issuer, steady):
    async def outcome(verifier, token):
        with contextlib.suppress(TokenRevoked):
            return await verifier.verify(token)

    async def check():
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands(), steady=steady)
        token = issuer.token()
        found = await asyncio.gather(*(outcome(verifier, token) for _ in range(8)))
        await verifier.aclose()
        return found

    issuer.publish_revocations(revoked=["jti-1"])

    assert asyncio.run(check()) == [None] * 8
    assert issuer.requests.count(LIST) == 1


@pytest.mark.parametrize("status", [404, 410])
def test_an_issuer_that_had_a_list_is_asked_again_soon_after_a_404(
    issuer, verifier, steady, status, caplog
):
    issuer.publish_revocations()
    token = issuer.token()
    before = is_accepted(verifier, token)
    issuer.revocations = status, {}, b""
    after_refresh(verifier, steady, token)
    issuer.publish_revocations(revoked=["jti-1"])

    steady.now += 5 - 15

    assert before
    assert not after_refresh(verifier, steady, token)
    assert f"the answer was {status}" in caplog.text


def test_who_insists_on_a_recent_list_asks_an_issuer_without_one_again_soon(issuer, steady):
    verifier = TokenVerifier(issuer.url, max_revocation_age=60, wall=Hands(), steady=steady)
    with pytest.raises(RevocationsUnavailable):
        verifier.verify(issuer.token())

    issuer.publish_revocations()
    steady.now += 5

    assert verifier.verify(issuer.token()).jti == "jti-1"


def no_thread(_):
    raise RuntimeError("can't start new thread")


def test_without_a_thread_for_it_the_list_is_read_again_later(
    issuer, verifier, steady, monkeypatch, caplog
):
    issuer.publish_revocations()
    token = issuer.token()
    before = is_accepted(verifier, token)
    issuer.publish_revocations(revoked=["jti-1"])

    steady.now += 15
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", no_thread)
        meanwhile = is_accepted(verifier, token)

    assert (before, meanwhile) == (True, True)
    assert "can't start new thread" in caplog.text
    assert not after_refresh(verifier, steady, token)
