"""Each memory that has a key is filled beyond its bound (docs/security/memory.md)."""

import asyncio
import inspect
import io
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from joserfc import jwt
from tests.support.cheap_keys import rsa_key
from tests.support.nodes import Nodes, two_nodes

from mudra.bootstrap.observability.logging import RequestLine, RequestLog
from mudra.console.framework.static_assets import AssetStore
from mudra.registry.directory.directory import Directory, DirectoryListing
from mudra.registry.directory.signed_listings import SignedListings
from mudra.server_protocol.connection_limits import ConnectionLimits, OpenConnections
from mudra.shared.network_address import address_key
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.fair_queue import Queue
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.tokens.authentication.bearer import VerifiedTokenCache
from mudra.tokens.authentication.credentials import Credentials
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.claims import TokenKind, TokenTerms
from mudra.tokens.issuing.issue_log_store import BatchedIssueLog
from mudra.tokens.revocation.node_revocations import RevokedTokens
from mudra.tokens.signing_keys.key_fetch_store import BatchedKeyFetches

PAGE: Final = Path(__file__).parents[2] / "docs" / "security" / "memory.md"
BEYOND: Final = 10
AT: Final = 1_777_593_600
NOW: Final = datetime.fromtimestamp(AT, UTC)
TERMS: Final = TokenTerms("https://iam.example/iam", "network")


class Filled(NamedTuple):
    """What a memory holds once more was put into it than its bound, and that bound."""

    held: int
    most: int


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with two_nodes(tmp_path_factory.mktemp("memory") / "data") as running:
        yield running


def rate_limits(_: Nodes) -> Filled:
    limit = KeyedRateLimit(1, 5, lambda: 0.0)
    for number in range(100_000 + BEYOND):
        assert limit.wait_s(f"key-{number}") == 0
    return Filled(len(limit), 100_000)


def credentials(nodes: Nodes) -> Filled:
    of_node = nodes.a.dependencies
    assert bound_of(Credentials) == 20_000
    cache = Credentials(of_node.database, of_node.invalidation, most=100)

    async def fill() -> None:
        found = await asyncio.gather(*(cache.find(f"FIP-{n}") for n in range(100 + BEYOND)))
        assert not any(found)

    nodes.do(fill())
    return Filled(len(cache), 100)


def revoked(nodes: Nodes) -> Filled:
    of_node = nodes.a.dependencies
    assert bound_of(RevokedTokens) == 50_000
    tokens = RevokedTokens(of_node.database, of_node.invalidation, most=100)

    async def fill() -> None:
        asked = (tokens.is_revoked(f"jti-{number}") for number in range(100 + BEYOND))
        assert not any(await asyncio.gather(*asked))

    nodes.do(fill())
    return Filled(len(tokens), 100)


def verified(_: Nodes) -> Filled:
    assert bound_of(VerifiedTokenCache) == 5_000
    key = rsa_key(kid="one")
    find = {"one": (TokenKind.ENTITY, key)}.get
    cache = VerifiedTokenCache(TERMS, find, lambda: NOW, most=100)
    for number in range(100 + BEYOND):
        claims = {
            "iss": TERMS.issuer,
            "aud": TERMS.entity_audience,
            "sub": "SETU-AA",
            "typ": "Bearer",
            "jti": f"jti-{number}",
            "iat": AT,
            "nbf": AT,
            "exp": AT + 60,
        }
        text = jwt.encode({"alg": "RS256", "kid": "one", "typ": "JWT"}, claims, key, ["RS256"])
        assert isinstance(cache.verify(SecretText(text)), VerifiedToken)
    return Filled(len(cache), 100)


def bound_of(memory: type) -> object:
    """Return what a memory holds in a service, where to fill it takes seconds."""
    return inspect.signature(memory).parameters["most"].default


def listings(_: Nodes) -> Filled:
    directory, made = Directory(), DirectoryListing(b"{}", "etag", None)
    cache = SignedListings(lambda _: "signature", lambda: "kid")
    for number in range(2_000 + BEYOND):
        assert cache.get(directory, number, lambda: made) is not None
        assert cache.get(directory, f"unknown-{number}", lambda: None) is None
    return Filled(len(cache), 2_000)


def queues(_: Nodes) -> Filled:
    async def fill() -> int:
        queue = Queue(1, 0.01)

        async def ask(key: str) -> None:
            async with queue.turn(f"account-{key}", f"address-{key}"):
                await asyncio.sleep(0)

        await asyncio.gather(*(ask(str(number)) for number in range(300)))
        return queue.remembered

    return Filled(asyncio.run(fill()), 0)


def issue_groups(nodes: Nodes) -> Filled:
    lost: list[str] = []
    log = BatchedIssueLog(nodes.a.dependencies.database, count_lost=lost.append)
    for number in range(50_000 + BEYOND):
        log.refused("", f"address-{number}", "txn", "wrong-secret")
    assert lost == ["refused"] * BEYOND
    return Filled(len(log), 50_000)


def issue_tokens(nodes: Nodes) -> Filled:
    lost: list[str] = []
    log = BatchedIssueLog(nodes.a.dependencies.database, count_lost=lost.append)
    for number in range(500_000 + BEYOND):
        log.issued("SETU-AA", "192.0.2.7", "txn", version=1, in_grace=False, jti=f"{number}")
    return Filled(500_000 + BEYOND - lost.count("issued"), 500_000)


def fetches(nodes: Nodes) -> Filled:
    async def directory() -> Directory:
        return Directory()

    log = BatchedKeyFetches(nodes.a.dependencies.database, directory)
    for number in range(10_000 + BEYOND):
        log.append(["kid"], f"address-{number}")
    return Filled(len(log), 10_000 + 1)


def connections(_: Nodes) -> Filled:
    found = OpenConnections(ConnectionLimits(per_address=5))
    assert [found.enter("192.0.2.1") for _ in range(6)] == [True] * 5 + [False]
    for number in range(300):
        found.enter(f"198.51.100.{number % 250}")
        found.leave(f"198.51.100.{number % 250}")
    return Filled(len(found), 1)


def request_lines(_: Nodes) -> Filled:
    written = io.StringIO()
    log = RequestLog(written)
    line = RequestLine(NOW, "info", "request", "GET", "/", 200, 1.0, "192.0.2.1")
    for _number in range(20_000 + BEYOND):
        log.note(line)
    log.flush()
    assert log.dropped == BEYOND
    return Filled(written.getvalue().count('"request"'), 20_000)


def static_files(_: Nodes) -> Filled:
    store = AssetStore()
    for number in range(300):
        assert store.find(f"{number}/../mudra.css") is not None
        assert store.find(f"nothing-{number}.css") is None
    return Filled(len(store), 1)


def addresses(_: Nodes) -> Filled:
    for number in range(4_096 + BEYOND):
        address_key(f"2001:db8:{number:x}::1")
    return Filled(address_key.cache_info().currsize, 4_096)


MEMORIES: Final[dict[str, Callable[[Nodes], Filled]]] = {
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


@pytest.mark.parametrize("name", MEMORIES)
def test_a_memory_ends_at_its_bound(name: str, nodes: Nodes) -> None:
    """I1: what invented keys can fill has an end, and what is dropped there is known."""
    filled = MEMORIES[name](nodes)

    assert filled.held == filled.most


def test_the_page_and_the_tests_name_the_same_memories() -> None:
    table = PAGE.read_text().partition("Kept elsewhere:")[0]
    rows = re.findall(r"^\| ([a-z][a-z ]+?) \|", table, re.MULTILINE)

    assert [row for row in rows if row != "memory"] == list(MEMORIES)
    for test in re.findall(r"`([a-z/]+/test_[a-z_]+\.py)`", PAGE.read_text()):
        if not test.startswith("tests/"):
            assert (PAGE.parents[2] / "tests" / test).is_file(), test
