"""One authentication serves token requests, introspection and revocation (spec 4.4)."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.tokens.authentication.entity_authenticator import (
    EntityAuthenticator,
    PresentedCredentials,
)
from mudra.tokens.authentication.secret_check import (
    AuthenticatedEntity,
    RateLimited,
    SecretExpired,
    SecretUnknown,
)
from mudra.tokens.ports import EntityCredentials, StoredSecret
from mudra.tokens.secrets.secret import first_secret

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BURST = 3


def mac(entity_id: str, secret: SecretText) -> bytes:
    return f"{entity_id}:{secret.reveal()}".encode()


class Memory:
    """The credentials of two entities; `cached` says whether memory has them."""

    def __init__(self, *, cached: bool) -> None:
        self.cached = cached
        self.known = {
            "KAVERI-FIP": credentials("KAVERI-FIP", NOW),
            "EXPIRED-FIP": credentials("EXPIRED-FIP", NOW - timedelta(days=200)),
        }

    def get_cached(self, entity_id: str) -> EntityCredentials | None:
        return self.known.get(entity_id) if self.cached else None

    def is_known_absent(self, entity_id: str) -> bool:
        return self.cached and entity_id not in self.known

    async def find(self, entity_id: str) -> EntityCredentials | None:
        return self.known.get(entity_id)


def credentials(entity_id: str, made_at: datetime) -> EntityCredentials:
    stored = StoredSecret(mac(entity_id, SecretText("right")), first_secret(entity_id, made_at))
    return EntityCredentials(entity_id, EntityType.FIP, active=True, secrets=(stored,))


class Log:
    """Keeps what was refused."""

    def __init__(self) -> None:
        self.refusals: list[tuple[str, str, str, str]] = []

    def issued(self, *_: object, **__: object) -> None:
        raise AssertionError

    def refused(self, entity_id: str, address: str, txn_id: str, reason: str) -> None:
        self.refusals.append((entity_id, address, txn_id, reason))


def authenticator(*, cached: bool = True) -> tuple[EntityAuthenticator, Log]:
    log = Log()
    limit = KeyedRateLimit(1.0, BURST, lambda: 0.0)
    return EntityAuthenticator(Memory(cached=cached), limit, mac, log, lambda: NOW), log


def presented(
    entity_id: str = "KAVERI-FIP", secret: str = "right", address: str = "192.0.2.7"
) -> PresentedCredentials:
    return PresentedCredentials(entity_id, SecretText(secret), address, "txn-1")


@pytest.mark.parametrize(
    ("entity_id", "secret", "outcome", "recorded"),
    [
        ("KAVERI-FIP", "right", AuthenticatedEntity, []),
        ("KAVERI-FIP", "wrong", SecretUnknown, [("KAVERI-FIP", "wrong-credentials")]),
        ("NO-SUCH-FIP", "right", SecretUnknown, [("", "wrong-credentials")]),
        ("EXPIRED-FIP", "right", SecretExpired, [("EXPIRED-FIP", "secret-ended")]),
    ],
)
def test_memory_and_database_give_the_same_outcome_and_each_refusal_is_recorded(
    entity_id: str, secret: str, outcome: type, recorded: list[tuple[str, str]]
) -> None:
    cached, cached_log = authenticator()
    uncached, uncached_log = authenticator(cached=False)

    first = cached.authenticate_cached(presented(entity_id, secret))
    second = asyncio.run(uncached.authenticate(presented(entity_id, secret)))

    assert isinstance(first, outcome)
    assert first == second
    expected = [(one, "192.0.2.7", "txn-1", reason) for one, reason in recorded]
    assert cached_log.refusals == uncached_log.refusals == expected


def test_beyond_the_limit_even_the_right_secret_is_refused_for_that_entity_and_address() -> None:
    service, log = authenticator()
    for _ in range(BURST):
        service.authenticate_cached(presented(secret="wrong"))

    limited = service.authenticate_cached(presented())

    assert limited == RateLimited(1)
    assert asyncio.run(service.authenticate(presented())) == RateLimited(1)
    assert isinstance(
        service.authenticate_cached(presented(address="192.0.2.8")), AuthenticatedEntity
    )
    assert len(log.refusals) == BURST


@pytest.mark.parametrize("entity_id", ["KAVERI-FIP", "NO-SUCH-FIP"])
def test_what_memory_does_not_know_is_neither_counted_nor_recorded(entity_id: str) -> None:
    service, log = authenticator(cached=False)

    outcomes = [
        service.authenticate_cached(presented(entity_id, "wrong")) for _ in range(BURST + 1)
    ]

    assert outcomes == [None] * (BURST + 1)
    assert log.refusals == []
    assert not isinstance(asyncio.run(service.authenticate(presented(entity_id))), RateLimited)
