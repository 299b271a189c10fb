"""Client assertions count against the limit of their entity and address, like secrets."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

from joserfc import jwt
from tests.support.cheap_keys import rsa_key

from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.assertion_authenticator import (
    AssertionAuthenticator,
    PresentedAssertion,
)
from mudra.tokens.authentication.client_assertion import UNKNOWN
from mudra.tokens.authentication.entity_authenticator import EntityAuthenticator
from mudra.tokens.authentication.secret_check import RateLimited

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BURST = 3


class NoOneThere:
    """Knows no entity, and counts how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.refused_by: list[str] = []

    def get_cached(self, _: str) -> None:
        raise AssertionError

    def is_known_absent(self, _: str) -> bool:
        raise AssertionError

    async def find(self, _: str) -> None:
        self.asked += 1

    def issued(self, *_: object, **__: object) -> None:
        raise AssertionError

    def refused(self, _: str, address: str, *__: str) -> None:
        self.refused_by.append(address)


@contextlib.asynccontextmanager
async def no_work() -> AsyncIterator[Transaction]:
    raise AssertionError
    yield


def presented(entity_id: str, address: str) -> PresentedAssertion:
    claims = {
        "iss": entity_id,
        "sub": entity_id,
        "aud": "https://iam.example",
        "exp": int(NOW.timestamp()) + 60,
        "jti": "one",
    }
    key = rsa_key()
    return PresentedAssertion(SecretText(jwt.encode({"alg": "RS256"}, claims, key)), address, "t")


def test_beyond_the_limit_nothing_is_looked_up() -> None:
    there = NoOneThere()
    limit = KeyedRateLimit(1.0, BURST, lambda: 0.0)
    entities = EntityAuthenticator(there, limit, lambda *_: b"", there, lambda: NOW)
    authenticator = AssertionAuthenticator(entities, no_work, ("https://iam.example",))
    one, elsewhere = presented("A-FIP", "192.0.2.1"), presented("A-FIP", "192.0.2.2")

    async def attempt() -> list[object]:
        outcomes = [await authenticator.authenticate(one) for _ in range(BURST + 1)]
        return [*outcomes, await authenticator.authenticate(elsewhere)]

    assert asyncio.run(attempt()) == [UNKNOWN] * BURST + [RateLimited(1), UNKNOWN]
    assert there.asked == BURST + 1
    assert there.refused_by == ["192.0.2.1"] * BURST + ["192.0.2.2"]
