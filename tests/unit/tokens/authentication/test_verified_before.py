"""A token is verified once in a request: what changes later is checked without its signature."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from joserfc import jwt
from joserfc.jwk import RSAKey
from tests.support.cheap_keys import rsa_key
from tests.support.dpop import KeyOfClient
from tests.unit.tokens.authentication.proofs_in_memory import ProofsInMemory

from mudra.shared.dpop_proof import PresentedProof
from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.tokens.authentication.bearer import (
    AdmittedEntity,
    BearerAuthenticator,
    EntityCaller,
    VerifiedTokenCache,
)
from mudra.tokens.authentication.proof_guard import USED, PresentedToken, ProofGuard
from mudra.tokens.authentication.token_check import TokenExpired, TokenInvalid, VerifiedToken
from mudra.tokens.claims import TokenKind, TokenTerms
from mudra.tokens.ports import EntityCredentials

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
ENDS = NOW + timedelta(minutes=10)
KEY = rsa_key(kid="one")
TERMS = TokenTerms("https://iam.example/iam", "network", "JWT")


class Network:
    """The time and the published keys, which a test changes."""

    def __init__(self) -> None:
        self.now = NOW
        self.keys = {"one": (TokenKind.ENTITY, KEY)}

    def token(self, **claims: object) -> str:
        own = {
            "iss": TERMS.issuer,
            "aud": TERMS.entity_audience,
            "sub": "KAVERI-FIP",
            "jti": "j",
            "typ": "Bearer",
            "iat": int(NOW.timestamp()),
            "nbf": int(NOW.timestamp()),
            "exp": int(ENDS.timestamp()),
        }
        return jwt.encode({"alg": "RS256", "kid": "one", "typ": "JWT"}, {**own, **claims}, KEY)

    def cache(self) -> tuple[VerifiedTokenCache, VerifiedToken]:
        cache = VerifiedTokenCache(TERMS, self.find, lambda: self.now)
        found = cache.verify(SecretText(self.token()))
        assert isinstance(found, VerifiedToken)
        return cache, found

    @property
    def find(self) -> Callable[[str], tuple[TokenKind, RSAKey] | None]:
        return self.keys.get


def test_the_signature_is_not_checked_again() -> None:
    network = Network()
    cache, token = network.cache()

    network.keys["one"] = TokenKind.ENTITY, rsa_key(kid="one")

    assert cache.verified_before(token) is token


def test_a_token_that_expired_since_is_refused() -> None:
    network = Network()
    cache, token = network.cache()

    network.now = ENDS + timedelta(seconds=60)

    assert cache.verified_before(token) == TokenExpired(ENDS)


def test_a_token_whose_key_was_withdrawn_since_is_refused() -> None:
    network = Network()
    cache, token = network.cache()

    network.keys.clear()
    assert cache.verified_before(token) == TokenInvalid()
    network.keys["one"] = TokenKind.USER, KEY
    assert cache.verified_before(token) == TokenInvalid()


def test_a_token_of_a_time_that_was_moved_back_is_refused() -> None:
    network = Network()
    cache, token = network.cache()

    network.now = NOW - timedelta(seconds=61)

    assert cache.verified_before(token) == TokenInvalid()


class Known:
    """What the authenticator asks: keys that are ready, an active entity, nothing revoked."""

    async def ready(self) -> None:
        pass

    def sign(self, *_: object) -> str:
        raise AssertionError

    def is_ready(self) -> bool:
        return True

    async def is_revoked(self, _: str) -> bool:
        return False

    def get_cached(self, entity_id: str) -> EntityCredentials:
        return EntityCredentials(entity_id, EntityType.FIP, active=True, secrets=())

    def is_known_absent(self, _: str) -> bool:
        return False

    async def find(self, entity_id: str) -> EntityCredentials:
        return self.get_cached(entity_id)


def test_the_proof_of_an_admitted_entity_is_checked_once_and_used_once() -> None:
    network, key, known = Network(), KeyOfClient(), Known()
    cache, _ = network.cache()
    text = network.token(cnf={"jkt": key.thumbprint})
    url = "https://iam.example/cr/v2/lint/FIP"
    sent = PresentedProof((key.proof("POST", url, NOW.timestamp(), text),), "POST", (url,))
    checks = iter([NOW])
    memory = ProofsInMemory()
    guard = ProofGuard(
        memory.open, checks.__next__, KeyedRateLimit(1.0, 9, lambda: 0.0), lambda memory: memory
    )
    bearer = BearerAuthenticator(known, cache, known, known, lambda: NOW, guard)
    presented = PresentedToken(SecretText(text), is_dpop=True, proof=sent)

    async def story() -> list[object]:
        admitted = await bearer.admit(presented, await bearer.verify(presented.text))
        assert isinstance(admitted, AdmittedEntity)
        assert memory.stored == set()
        return [await bearer.use_proof(admitted) for _ in range(2)]

    first, again = asyncio.run(story())
    assert isinstance(first, EntityCaller)
    assert first.entity_id == "KAVERI-FIP"
    assert again == USED
    assert list(checks) == [], "one look at the clock is one check of a signature"
