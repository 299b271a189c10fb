"""Forged, bent and borrowed tokens against the client's verifier, over a real issuer."""

import asyncio

import pytest
from joserfc import jwt
from joserfc.jwk import OctKey
from tests.security.forged_tokens import FORGED
from tests.support.issuer import NOW, Hands, Issuer

from mudra.client import (
    AsyncTokenVerifier,
    BadSignature,
    MudraClientError,
    NotAnEntityToken,
    Role,
    TokenExpired,
    TokenMalformed,
    TokenNotYetValid,
    TokenRefused,
    TokenVerifier,
    UnknownKey,
    WrongAudience,
    WrongIssuer,
)

MAX_LENGTH = 16 * 1024


@pytest.fixture(scope="module")
def issuer():
    issuer = Issuer()
    yield issuer
    issuer.close()


@pytest.fixture
def verifier(issuer):
    verifier = TokenVerifier(issuer.url, wall=Hands(), steady=Hands(0))
    yield verifier
    verifier.close()


def test_a_genuine_token_names_its_entity(issuer, verifier):
    token = verifier.verify(issuer.token())

    assert (token.entity_id, token.role, token.jti) == ("HDFC-FIP", Role.FIP, "jti-1")
    assert token.audience == ("aa-network",)
    assert token.expires_at.timestamp() == NOW + 86400


def test_a_token_typed_as_access_token_passes(issuer, verifier):
    assert verifier.verify(issuer.token(header={"typ": "at+jwt"})).entity_id == "HDFC-FIP"


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_refused(name, issuer, verifier):
    forged = FORGED[name](issuer)

    with pytest.raises(TokenRefused) as refusal:
        verifier.verify(forged)

    assert refusal.value.way_out
    assert not forged or forged not in str(refusal.value)


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_token_is_refused_by_a_verifier_that_remembers(name, issuer):
    verifier = TokenVerifier(issuer.url, remember=10, wall=Hands(), steady=Hands(0))
    verifier.verify(issuer.token())
    forged = FORGED[name](issuer)

    for _ in range(2):
        with pytest.raises(TokenRefused):
            verifier.verify(forged)

    verifier.close()


def test_forging_never_sends_the_verifier_elsewhere(issuer, verifier):
    before = len(issuer.requests)

    for forge in FORGED.values():
        with pytest.raises(TokenRefused):
            verifier.verify(forge(issuer))

    assert set(issuer.requests[before:]) == {"/iam/protocol/openid-connect/certs"}
    assert len(issuer.requests) - before <= 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("alg none", TokenMalformed),
        ("jwk brought along", TokenMalformed),
        ("1 MiB", TokenMalformed),
        ("an unknown kid", UnknownKey),
        ("a stranger's key under our kid", BadSignature),
        ("another issuer", WrongIssuer),
        ("a user's token", NotAnEntityToken),
    ],
)
def test_each_refusal_has_its_own_kind(name, kind, issuer, verifier):
    with pytest.raises(kind):
        verifier.verify(FORGED[name](issuer))


@pytest.mark.parametrize(
    ("name", "message"),
    [("jku of the forger", "jku"), ("x5c", "x5c"), ("crit", "crit"), ("RS384", "RS256")],
)
def test_a_refusal_names_what_is_wrong(name, message, issuer, verifier):
    with pytest.raises(TokenMalformed, match=message):
        verifier.verify(FORGED[name](issuer))


@pytest.mark.parametrize(
    ("claims", "now", "refused"),
    [
        ({}, NOW + 86400 + 59, None),
        ({}, NOW + 86400 + 59.999, None),
        ({}, NOW + 86400 + 60, TokenExpired),
        ({}, NOW - 60, None),
        ({}, NOW - 60.001, TokenNotYetValid),
        ({"nbf": NOW + 100}, NOW + 40, None),
        ({"nbf": NOW + 100}, NOW + 39, TokenNotYetValid),
        ({"nbf": None}, NOW - 60, None),
        ({"nbf": None}, NOW - 61, TokenNotYetValid),
        ({"nbf": NOW - 999, "iat": NOW + 100}, NOW + 39, TokenNotYetValid),
    ],
)
@pytest.mark.parametrize("remember", [0, 5])
def test_clocks_may_differ_by_60_seconds_and_no_more(claims, now, refused, remember, issuer):
    clock = Hands()
    verifier = TokenVerifier(issuer.url, remember=remember, wall=clock, steady=Hands(0))
    token = issuer.token(**claims)
    if not claims:
        verifier.verify(token)
    clock.now = now

    if refused is None:
        assert verifier.verify(token).entity_id == "HDFC-FIP"
    else:
        with pytest.raises(refused):
            verifier.verify(token)
    verifier.close()


@pytest.mark.parametrize("aud", ["mine", ["other", "mine"]])
def test_an_audience_is_met_alone_or_in_a_list(aud, issuer):
    verifier = TokenVerifier(issuer.url, audience="mine", wall=Hands(), steady=Hands(0))

    assert verifier.verify(issuer.token(aud=aud)).entity_id == "HDFC-FIP"


@pytest.mark.parametrize("aud", ["other", ["other"], [], None, "mine2", "min"])
def test_a_token_for_another_audience_is_refused(aud, issuer):
    verifier = TokenVerifier(issuer.url, audience="mine", wall=Hands(), steady=Hands(0))

    with pytest.raises(WrongAudience):
        verifier.verify(issuer.token(aud=aud))


def test_a_token_of_exactly_the_longest_length_is_read(issuer, verifier):
    empty = len(issuer.token(pad=""))
    token = issuer.token(pad="x" * ((MAX_LENGTH - empty) * 3 // 4))

    assert MAX_LENGTH - 4 < len(token) <= MAX_LENGTH
    assert verifier.verify(token).entity_id == "HDFC-FIP"


async def _refused(verifier, token):
    try:
        await verifier.verify(token)
    except TokenRefused:
        return True
    return False


def test_the_verifier_for_event_loops_refuses_the_same(issuer):
    async def check():
        verifier = AsyncTokenVerifier(issuer.url, wall=Hands(), steady=Hands(0))
        passed = await verifier.verify(issuer.token())
        refused = [await _refused(verifier, forge(issuer)) for forge in FORGED.values()]
        await verifier.aclose()
        return passed.entity_id, refused

    entity_id, refused = asyncio.run(check())

    assert entity_id == "HDFC-FIP"
    assert all(refused)


def test_a_symmetric_key_in_the_key_set_is_of_no_use(issuer):
    secret = OctKey.generate_key(256, {"kid": "sym", "alg": "HS256", "use": "sig"})
    token = jwt.encode(
        {"alg": "HS256", "typ": "JWT", "kid": "sym"}, issuer.claims(), secret, algorithms=["HS256"]
    )
    verifier = TokenVerifier(issuer.url, wall=Hands(), steady=Hands(0))

    with pytest.raises(MudraClientError):
        verifier.verify(token)
