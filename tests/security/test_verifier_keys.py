"""When a verifier asks the issuer for its keys, and what it does without an answer."""

import asyncio
import json
import threading

import httpx2
import pytest
from tests.support.issuer import Hands, Issuer

from mudra.client import (
    AsyncTokenVerifier,
    KeysUnavailable,
    TokenRefused,
    TokenVerifier,
    UnknownKey,
)

CERTS = "/iam/protocol/openid-connect/certs"


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
    verifier = TokenVerifier(issuer.url, wall=Hands(), steady=steady, revocations=False)
    yield verifier
    verifier.close()


def accepted(verifier, token):
    try:
        return verifier.verify(token).entity_id == "HDFC-FIP"
    except TokenRefused:
        return False


def test_keys_are_fetched_once_for_many_tokens(issuer, verifier):
    for number in range(20):
        assert accepted(verifier, issuer.token(jti=f"jti-{number}"))

    assert issuer.requests == [CERTS]


def test_keys_are_fetched_again_when_their_age_is_over(issuer, verifier, steady):
    issuer.cache_control = "public, max-age=120"
    token = issuer.token()

    asked = []
    for steady.now in (0, 119.9, 120, 200):
        assert accepted(verifier, token)
        asked.append(len(issuer.requests))

    assert asked == [1, 1, 2, 2]


@pytest.mark.parametrize(
    ("cache_control", "age"),
    [("", 300), ("max-age=0", 30), ("no-store", 30), ("max-age=999999999", 86400)],
)
def test_the_age_of_keys_has_bounds(cache_control, age, issuer, verifier, steady):
    issuer.cache_control = cache_control
    accepted(verifier, issuer.token())

    steady.now = age - 0.1
    accepted(verifier, issuer.token())
    assert len(issuer.requests) == 1
    steady.now = age
    accepted(verifier, issuer.token())
    assert len(issuer.requests) == 2


def test_a_new_key_is_found_at_once(issuer, verifier):
    assert accepted(verifier, issuer.token())
    issuer.keys.append(issuer.new_key("key-2"))

    assert accepted(verifier, issuer.token(key=issuer.keys[1]))
    assert len(issuer.requests) == 2


def test_invented_key_names_cause_one_request_in_30_seconds(issuer, verifier, steady):
    accepted(verifier, issuer.token())
    tokens = [issuer.token(header={"kid": f"made-up-{n}"}) for n in range(30)]

    asked = []
    for steady.now in (1, 30.9, 31):
        for token in tokens:
            with pytest.raises(UnknownKey):
                verifier.verify(token)
        asked.append(len(issuer.requests))

    assert asked == [2, 2, 3]


def test_a_withdrawn_key_is_refused_after_the_next_fetch(issuer, verifier, steady):
    token = issuer.token()
    assert accepted(verifier, token)
    issuer.keys = [issuer.new_key("key-2")]

    steady.now = 300

    with pytest.raises(UnknownKey):
        verifier.verify(token)


def test_a_remembered_token_is_forgotten_with_its_key(issuer, steady):
    verifier = TokenVerifier(issuer.url, remember=5, wall=Hands(), steady=steady, revocations=False)
    token = issuer.token()
    assert accepted(verifier, token)
    assert accepted(verifier, token)
    issuer.keys = [issuer.new_key("key-1")]

    steady.now = 300

    assert not accepted(verifier, token)
    verifier.close()


def test_a_remembered_token_is_not_checked_again_but_its_time_is(issuer, steady):
    wall = Hands()
    verifier = TokenVerifier(issuer.url, remember=5, wall=wall, steady=steady, revocations=False)
    token = issuer.token()

    assert verifier.verify(token) is verifier.verify(token)
    wall.now += 86_400 + 60
    assert not accepted(verifier, token)
    verifier.close()


def test_the_memory_is_bounded(issuer, steady):
    verifier = TokenVerifier(issuer.url, remember=3, wall=Hands(), steady=steady, revocations=False)

    for number in range(10):
        verifier.verify(issuer.token(jti=f"jti-{number}"))

    assert len(verifier._verification._cache) == 3
    verifier.close()


@pytest.mark.parametrize(
    "outage",
    [
        {"status": 500},
        {"status": 302},
        {"jwks_bytes": b""},
        {"jwks_bytes": b"<html>"},
        {"jwks_bytes": b'{"keys":[]}'},
        {"jwks_bytes": b'{"keys":[{"kty":"oct","kid":"key-1","k":"AAAA"}]}'},
        {"jwks_bytes": b"[" * 100_000},
        {"jwks_bytes": b'{"keys":[' + b" " * 300_000 + b"]}"},
    ],
)
def test_known_keys_serve_for_a_day_while_the_issuer_is_out_of_order(
    outage, issuer, verifier, steady
):
    token = issuer.token()
    assert accepted(verifier, token)
    for name, value in outage.items():
        setattr(issuer, name, value)

    for steady.now in (300, 301, 331, 300 + 86_399):
        assert accepted(verifier, token)
    steady.now = 300 + 86_400
    with pytest.raises(KeysUnavailable):
        verifier.verify(token)

    issuer.status, issuer.jwks_bytes = 200, None
    steady.now += 30
    assert accepted(verifier, token)


def test_during_an_outage_the_issuer_is_asked_every_30_seconds(issuer, verifier, steady):
    accepted(verifier, issuer.token())
    issuer.status = 503

    for steady.now in range(300, 400):
        assert accepted(verifier, issuer.token())

    assert len(issuer.requests) == 1 + 4


def test_without_any_keys_the_fault_is_not_the_tokens(issuer, verifier, steady):
    issuer.status = 503

    with pytest.raises(KeysUnavailable, match="could not be fetched"):
        verifier.verify(issuer.token())

    issuer.status = 200
    steady.now = 1
    assert accepted(verifier, issuer.token())


def test_an_unknown_key_during_an_outage_is_not_the_tokens_fault(issuer, verifier, steady):
    accepted(verifier, issuer.token())
    issuer.status = 503

    with pytest.raises(KeysUnavailable):
        verifier.verify(issuer.token(header={"kid": "key-2"}))


@pytest.mark.parametrize(
    "change",
    [
        {"use": "enc"},
        {"alg": "RS512"},
        {"kty": "EC"},
        {"n": "AQAB"},
        {"n": "!"},
        {"e": None},
        {"d": "AQAB"},
        {"kid": 1},
        {"kid": ""},
    ],
)
def test_a_key_that_is_no_rs256_signing_key_is_not_used(change, issuer, verifier):
    bad = {**issuer.keys[0].as_dict(private=False), **change}
    other = issuer.new_key("key-2").as_dict(private=False)
    issuer.jwks_bytes = json.dumps({"keys": [bad, other]}).encode()

    with pytest.raises(UnknownKey):
        verifier.verify(issuer.token())


def test_of_two_keys_with_one_name_neither_is_used(issuer, verifier):
    issuer.keys += [issuer.new_key("key-1"), issuer.new_key("key-2")]

    assert not accepted(verifier, issuer.token())
    assert accepted(verifier, issuer.token(key=issuer.keys[2]))


def test_many_threads_cause_one_fetch(issuer, verifier):
    issuer.hold.clear()
    token, results = issuer.token(), []
    threads = [
        threading.Thread(target=lambda: results.append(accepted(verifier, token))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    issuer.hold.set()
    for thread in threads:
        thread.join()

    assert results == [True] * 8
    assert issuer.requests == [CERTS]


def test_no_one_waits_for_a_slow_issuer_while_an_older_key_is_cached(issuer, verifier, steady):
    token = issuer.token()
    accepted(verifier, token)
    steady.now = 300
    issuer.hold.clear()
    one = threading.Thread(target=lambda: accepted(verifier, token))
    one.start()
    while len(issuer.requests) < 2:
        one.join(0.001)

    assert accepted(verifier, token)

    assert one.is_alive()
    issuer.hold.set()
    one.join()


def test_many_tasks_cause_one_fetch(issuer, steady):
    async def check():
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands(), steady=steady, revocations=False)
        tokens = await asyncio.gather(*(verifier.verify(issuer.token()) for _ in range(8)))
        await verifier.aclose()
        return tokens

    assert len(asyncio.run(check())) == 8
    assert issuer.requests == [CERTS]


class SlowIssuer(httpx2.AsyncBaseTransport):
    """Answers as the issuer does, once it is let go on."""

    def __init__(self, issuer):
        self.issuer = issuer
        self.was_asked, self.goes_on = asyncio.Event(), asyncio.Event()

    async def handle_async_request(self, request):
        self.issuer.requests.append(request.url.path)
        self.was_asked.set()
        await self.goes_on.wait()
        status, headers, body = self.issuer.get(request.url.path)
        return httpx2.Response(status, headers=headers, content=body)

    def verifier(self, steady):
        http = httpx2.AsyncClient(transport=self)
        return AsyncTokenVerifier(
            self.issuer.url, wall=Hands(), steady=steady, revocations=False, http=http
        )


def test_a_cancelled_call_leaves_the_keys_to_the_next(issuer, steady):
    async def check():
        slow = SlowIssuer(issuer)
        verifier = slow.verifier(steady)
        impatient = asyncio.create_task(verifier.verify(issuer.token()))
        await slow.was_asked.wait()
        impatient.cancel()
        await asyncio.wait([impatient])
        slow.goes_on.set()
        token = await verifier.verify(issuer.token(jti="jti-2"))
        await verifier.aclose()
        return impatient.cancelled(), token.jti

    assert asyncio.run(check()) == (True, "jti-2")
    assert issuer.requests == [CERTS]


def test_who_closes_a_verifier_ends_its_fetch(issuer, steady):
    async def check():
        slow = SlowIssuer(issuer)
        verifier = slow.verifier(steady)
        waiting = asyncio.create_task(verifier.verify(issuer.token()))
        await slow.was_asked.wait()
        await verifier.aclose()
        await asyncio.wait([waiting], timeout=5)
        return waiting.cancelled()

    assert asyncio.run(check())


def test_the_metadata_can_say_where_the_keys_are(issuer, steady):
    issuer.metadata = {"issuer": issuer.url, "jwks_uri": issuer.url + "/keys"}
    verifier = TokenVerifier(
        issuer.url, ask_metadata=True, wall=Hands(), steady=steady, revocations=False
    )

    assert accepted(verifier, issuer.token())
    assert issuer.requests == ["/iam/.well-known/openid-configuration", "/iam/keys"]


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://evil.example", "jwks_uri": "https://evil.example/keys"},
        {"jwks_uri": "x"},
        [],
    ],
)
def test_metadata_of_another_issuer_are_not_followed(metadata, issuer, steady):
    issuer.metadata = metadata
    verifier = TokenVerifier(
        issuer.url, ask_metadata=True, wall=Hands(), steady=steady, revocations=False
    )

    with pytest.raises(KeysUnavailable):
        verifier.verify(issuer.token())


@pytest.mark.parametrize(
    "url",
    [
        "http://iam.example.org/iam",
        "ftp://iam.example.org",
        "iam.example.org",
        "",
        "https://user:pass@iam.example.org",
        "https://iam.example.org/?x=1",
    ],
)
def test_an_address_in_the_clear_is_refused_at_once(url):
    with pytest.raises(ValueError, match=r"the address|is not https"):
        TokenVerifier(url)


def test_the_clear_is_allowed_on_ones_own_network():
    TokenVerifier("http://iam.example.org/iam", allow_http=True).close()
