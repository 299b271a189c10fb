"""Each memory that has a key is filled beyond its bound (docs/security/memory.md)."""

import asyncio
import io
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest

from mudra.bootstrap.observability import logging as request_logging
from mudra.console.framework.static_assets import AssetStore
from mudra.registry.directory import signed_listings
from mudra.server_protocol.connection_limits import ConnectionLimits, OpenConnections
from mudra.shared import fair_queue, network_address, rate_limit
from mudra.storage.caching.cache_invalidation import CacheInvalidation
from mudra.tokens.authentication import credentials as credentials_in_memory
from mudra.tokens.authentication import verified_token_cache
from mudra.tokens.issuing import issue_log_store as issue_log
from mudra.tokens.revocation import revoked_tokens
from mudra.tokens.signing_keys import key_fetch_store as key_fetches

PAGE: Final = Path(__file__).parents[2] / "docs" / "security" / "memory.md"
BEYOND: Final = 300
NOW: Final = datetime(2026, 5, 1, tzinfo=UTC)
Patch = pytest.MonkeyPatch


def rate_limits(patch: Patch) -> tuple[int, int]:
    patch.setattr(rate_limit, "_MAX_KEYS", 100)
    limit = rate_limit.KeyedRateLimit(1, 5, lambda: 0.0)
    for number in range(BEYOND):
        assert limit.wait_s(f"key-{number}") == 0
    return len(limit), 100


def credentials(patch: Patch) -> tuple[int, int]:
    patch.setattr(credentials_in_memory, "_MAX_COUNT", 100)

    async def fill() -> int:
        database = SimpleNamespace(transaction=_Transaction)
        patch.setattr(credentials_in_memory, "Secrets", _NoSecrets)
        cache = credentials_in_memory.Credentials(database, proven())  # type: ignore[arg-type]
        for number in range(BEYOND):
            assert await cache.find(f"FIP-{number}") is None
        return len(cache._cache)

    return asyncio.run(fill()), 100


def revoked(patch: Patch) -> tuple[int, int]:
    patch.setattr(revoked_tokens, "_MAX_COUNT", 100)

    async def fill() -> int:
        database = SimpleNamespace(transaction=_Transaction)
        patch.setattr(revoked_tokens, "IssuedTokens", _NoneRevoked)
        tokens = revoked_tokens.RevokedTokens(database, proven())  # type: ignore[arg-type]
        for number in range(BEYOND):
            assert not await tokens.is_revoked(f"jti-{number}")
        return len(tokens._cache)

    return asyncio.run(fill()), 100


def proven() -> CacheInvalidation:
    invalidation = CacheInvalidation("")
    invalidation._proven_at, invalidation._settled_at = float("inf"), float("-inf")
    return invalidation


def verified(patch: Patch) -> tuple[int, int]:
    patch.setattr(verified_token_cache, "_MAX_COUNT", 100)
    token = _Verified()
    patch.setattr(verified_token_cache, "VerifiedToken", _Verified)

    def verify(text: str, _terms: Any, find: Any, _now: datetime, _issuer_of: Any) -> Any:
        find("kid")
        return token

    patch.setattr(verified_token_cache, "verify_token", verify)
    cache = verified_token_cache.VerifiedTokenCache(None, lambda _: None, lambda: NOW)  # type: ignore[arg-type]
    for number in range(BEYOND):
        cache.verify(verified_token_cache.SecretText(f"token-{number}"))
    return len(cache._verified), 100


def listings(patch: Patch) -> tuple[int, int]:
    patch.setattr(signed_listings, "_MAX_COUNT", 100)
    made = SimpleNamespace(body=b"{}")
    cache = signed_listings.SignedListings(lambda _: "signature", lambda: "kid")
    for number in range(BEYOND):
        cache.get(SAME, number, lambda: made)  # type: ignore[arg-type,return-value]
        assert cache.get(SAME, f"unknown-{number}", lambda: None) is None
    return len(cache._cached), 100


SAME: Final[Any] = object()


def queues(_: Patch) -> tuple[int, int]:
    async def fill() -> int:
        queue = fair_queue.Queue(1, 0.01)

        async def ask(key: str) -> None:
            async with queue.turn(f"account-{key}", f"address-{key}"):
                await asyncio.sleep(0)

        await asyncio.gather(*(ask(str(number)) for number in range(BEYOND)))
        return queue.remembered

    return asyncio.run(fill()), 0


def issue_groups(patch: Patch) -> tuple[int, int]:
    patch.setattr(issue_log, "_MAX_GROUPS", 100)
    lost: list[str] = []
    log = issue_log.BatchedIssueLog(None, count_lost=lost.append)  # type: ignore[arg-type]
    for number in range(BEYOND):
        log.refused("", f"192.0.2.{number}", "txn", "wrong-secret")
    assert len(lost) == BEYOND - 100
    return len(log), 100


def issue_tokens(patch: Patch) -> tuple[int, int]:
    patch.setattr(issue_log, "_MAX_JTIS", 100)
    lost: list[str] = []
    log = issue_log.BatchedIssueLog(None, count_lost=lost.append)  # type: ignore[arg-type]
    for number in range(BEYOND):
        log.issued("SETU-AA", "192.0.2.7", "txn", version=1, in_grace=False, jti=f"jti-{number}")
    assert len(lost) == BEYOND - 100
    (held,) = log._issued.waiting.take()
    return sum(len(group.jtis) for _, group in held), 100


def fetches(patch: Patch) -> tuple[int, int]:
    patch.setattr(key_fetches, "_MAX_ADDRESSES", 100)
    log = key_fetches.BatchedKeyFetches(None, None)  # type: ignore[arg-type]
    for number in range(BEYOND):
        log.append(["kid"], f"192.0.2.{number}")
    assert sum(log._counts.values()) == BEYOND
    return len(log._counts), 101


def connections(_: Patch) -> tuple[int, int]:
    found = OpenConnections(ConnectionLimits(per_address=5))
    assert [found.enter("192.0.2.1") for _ in range(6)] == [True] * 5 + [False]
    for number in range(BEYOND):
        found.enter(f"198.51.100.{number % 250}")
        found.leave(f"198.51.100.{number % 250}")
    return len(found), 1


def request_lines(patch: Patch) -> tuple[int, int]:
    patch.setattr(request_logging, "_MAX_WAITING", 100)
    log = request_logging.RequestLog(io.StringIO())
    line = request_logging.RequestLine(NOW, "request", "GET", "/", 200, 1.0, "192.0.2.1")
    for _ in range(BEYOND):
        log.note(line)
    assert log.dropped == BEYOND - 100
    return len(log._waiting), 100


def static_files(_: Patch) -> tuple[int, int]:
    store = AssetStore()
    for number in range(BEYOND):
        assert store.find(f"{number}/../mudra.css") is not None
        assert store.find(f"nothing-{number}.css") is None
    return len(store), 1


def addresses(_: Patch) -> tuple[int, int]:
    for number in range(5000):
        network_address.address_key(f"2001:db8:{number:x}::1")
    return network_address.address_key.cache_info().currsize, 4096


MEMORIES: Final[dict[str, Callable[[Patch], tuple[int, int]]]] = {
    "rate limit": rate_limits,
    "credentials": credentials,
    "revoked tokens": revoked,
    "verified tokens": verified,
    "signed listings": listings,
    "queues": queues,
    "token issue groups": issue_groups,
    "issued tokens": issue_tokens,
    "key fetches": fetches,
    "open connections": connections,
    "request lines": request_lines,
    "static files": static_files,
    "parsed addresses": addresses,
}


class _Verified:
    """A token whose signature is good: the bound is what is tested."""


class _Transaction:
    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        return None


class _NoneRevoked:
    def __init__(self, _: object) -> None:
        pass

    async def revoked_of(self, jtis: object) -> frozenset[str]:
        assert jtis
        return frozenset()


class _NoSecrets:
    def __init__(self, *_: object) -> None:
        pass

    async def credentials(self, entity_ids: object, **_: bool) -> dict[str, Any]:
        assert entity_ids
        return {}


@pytest.mark.parametrize("name", MEMORIES)
def test_a_memory_ends_at_its_bound(name: str, monkeypatch: Patch) -> None:
    """I1: what invented keys can fill has an end, and what is dropped there is known."""
    held, most = MEMORIES[name](monkeypatch)

    assert held <= most


def test_the_page_and_the_tests_name_the_same_memories() -> None:
    table = PAGE.read_text().partition("Kept elsewhere:")[0]
    rows = re.findall(r"^\| ([a-z][a-z ]+?) \|", table, re.MULTILINE)

    assert [row for row in rows if row != "memory"] == list(MEMORIES)
    for test in re.findall(r"`([a-z/]+/test_[a-z_]+\.py)`", PAGE.read_text()):
        if not test.startswith("tests/"):
            assert (PAGE.parents[2] / "tests" / test).is_file(), test
