"""As many strangers as may wait for their sign-in lock no one out (0077)."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import TypeVar

import psycopg
import pytest

from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.identity.accounts.people_store import People
from mudra.identity.passkeys.challenge import ask_to_sign_in
from mudra.identity.passkeys.passkey import Purpose
from mudra.identity.passkeys.relying_party import RelyingParty
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.identity.single_sign_on.attempt import begin_attempt, end_attempt
from mudra.identity.single_sign_on.ports import SignOnRequest
from mudra.settings.settings import Settings
from mudra.shared.secret_text import SecretText
from mudra.storage.crypto.encryption_keys import load_data_encryption

T = TypeVar("T")
Act = Callable[[Callable[[Dependencies], Awaitable[T]]], T]
BACK = "http://127.0.0.1/back"
PARTY = RelyingParty("localhost", "http://localhost")
# 198 addresses with fifty each, two with 49, and the one that has waited longest, alone.
CROWD = (
    "SELECT sha256(n::text::bytea), now() + (n + 60) * interval '10 ms' + interval '4 minutes',"
    " CASE WHEN n = 0 THEN 'alone' WHEN n < 9901 THEN 'busy-' || n % 198"
    " ELSE 'less-' || n % 2 END FROM generate_series(0, 9999) AS n"
)
KEPT = "SELECT count(*), count(*) FILTER (WHERE address = 'alone') FROM "


@pytest.fixture(scope="module")
def act(conninfo: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Act[object]]:
    """Acts on the store of this file."""
    folder = tmp_path_factory.mktemp("crowded")
    folder.chmod(0o700)
    encryption = load_data_encryption(conninfo, folder, create=True)
    dependencies = build_dependencies(Settings(data_dir=folder), conninfo, encryption)
    loop = asyncio.new_event_loop()
    yield lambda action: loop.run_until_complete(action(dependencies))
    loop.run_until_complete(dependencies.database.close())
    loop.close()


@pytest.fixture
def waiting(conninfo: str) -> Iterator[psycopg.Connection]:
    """As many sign-ins of strangers as may wait, of both kinds."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            "INSERT INTO sign_on_attempt (holder, expires_at, address, state, path)"
            f" SELECT *, '', '' FROM ({CROWD}) AS crowd"
        )
        connection.execute(
            "INSERT INTO passkey_challenge (holder, expires_at, address, value, purpose)"
            f" SELECT *, '', 'sign-in' FROM ({CROWD}) AS crowd"
        )
        yield connection
        connection.execute("TRUNCATE sign_on_attempt, passkey_challenge")


async def begun(
    dependencies: Dependencies, address: str
) -> tuple[SecretText, SignOnRequest] | TooManyAttempts:
    async with dependencies.transaction() as tx:
        return await begin_attempt(tx, "/console", address, BACK, os.urandom, fresh=False)


async def asked(dependencies: Dependencies, holder: bytes, address: str) -> str | TooManyAttempts:
    async with dependencies.transaction() as tx:
        return await ask_to_sign_in(tx, holder, address, PARTY, os.urandom)


def test_who_signs_on_comes_back_however_many_wait(
    act: Act[object], waiting: psycopg.Connection
) -> None:
    async def comes_back(dependencies: Dependencies) -> object:
        begin = await begun(dependencies, "192.0.2.7")
        assert not isinstance(begin, TooManyAttempts)
        async with dependencies.transaction() as tx:
            return await end_attempt(tx, begin[0], begin[1].state, BACK)

    back = act(comes_back)

    assert isinstance(back, tuple)
    assert back[0] == "/console"
    assert waiting.execute(f"{KEPT} sign_on_attempt").fetchone() == (9999, 1)


def test_who_has_a_passkey_gets_a_challenge_however_many_wait(
    act: Act[object], waiting: psycopg.Connection
) -> None:
    async def challenge(dependencies: Dependencies) -> object:
        await asked(dependencies, b"browser", "192.0.2.7")
        async with dependencies.transaction() as tx:
            now = await People(tx).now()
            return await SecondFactors(tx).passkeys.take_challenge(b"browser", Purpose.SIGN_IN, now)

    value = act(challenge)

    assert isinstance(value, bytes)
    assert waiting.execute(f"{KEPT} passkey_challenge").fetchone() == (9999, 1)


def test_an_address_of_which_fifty_wait_makes_no_room(
    act: Act[object], waiting: psycopg.Connection
) -> None:
    async def again(dependencies: Dependencies) -> object:
        return [
            await begun(dependencies, "busy-7"),
            await asked(dependencies, b"browser", "busy-7"),
        ]

    refused = act(again)

    assert isinstance(refused, list)
    assert [type(one) for one in refused] == [TooManyAttempts, TooManyAttempts]
    assert waiting.execute(f"{KEPT} sign_on_attempt").fetchone() == (10_000, 1)
    assert waiting.execute(f"{KEPT} passkey_challenge").fetchone() == (10_000, 1)
