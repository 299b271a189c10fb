"""A running service: spoken to over HTTP, its time moved by hand."""

import contextlib
import functools
import signal
import subprocess
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import httpx2
from tests.support.cheap_hashes import cheap_hashes
from tests.support.http_clients import client_of
from tests.support.preloaded_program import ForkedProgram
from tests.support.store import StoreOfService
from tests.support.until import PATIENCE_S, until
from typer.testing import Result

from mudra.bootstrap.dependencies import Dependencies
from mudra.demo.activation import hash_once

T = TypeVar("T")
PASSWORD = "a-password-for-tests-only"
NO_TIME = "PT0S"


@dataclass
class Service:
    """A running service."""

    process: subprocess.Popen[str] | ForkedProgram
    issuer: str
    data_dir: Path
    environment: dict[str, str]
    full_hashes: bool = False
    keeps_store: bool = False
    _clients: list[httpx2.Client] = field(default_factory=list)
    _password_hash: str = ""

    @property
    def root(self) -> str:
        """Address of the service without the path of the token service."""
        return self.issuer.removesuffix("/iam")

    def client(self, address: str | None = None, kept: int = 20) -> httpx2.Client:
        """A client that speaks from a loopback address of its own, and keeps some connections."""
        client = client_of(self.issuer, address, kept)
        self._clients.append(client)
        return client

    @functools.cached_property
    def _store(self) -> StoreOfService:
        return StoreOfService(self.environment, kept_open=self.keeps_store)

    @functools.cached_property
    def _near(self) -> httpx2.Client:
        """A client that goes to whatever worker there is: one of two may be stopped by a test."""
        return self.client(kept=0)

    def advance(self, duration: str) -> datetime:
        """Move the service's clock forward, on all workers; give its time then."""
        if duration != NO_TIME:
            self._store.leave()
        answer = self._near.post(f"{self.root}/sandbox/v1/clock", json={"advance": duration})
        assert answer.status_code == 200, answer.text
        return datetime.fromisoformat(answer.json()["now"])

    def wall(self) -> float:
        """The service's time in seconds since 1970: other tests may have moved it by years."""
        return self.advance(NO_TIME).timestamp()

    def wait_until(self, condition: Callable[[], T], show: Callable[[], object] | None = None) -> T:
        """Return once a condition holds; what this waits for is done by a process of the service.

        `show` gives what a failure shows, such as the answer that the condition is about.
        """
        return until(condition, show)

    def introspected(self, token: str, entity_id: str, secret: str) -> dict[str, object]:
        """Returns the introspection of a token, asked for by an entity (RFC 7662)."""
        answer = self._near.post(
            "/oauth2/introspect", data={"token": token}, auth=(entity_id, secret)
        )
        assert answer.status_code == 200, answer.text
        facts = answer.json()
        assert isinstance(facts, dict)
        return facts

    def cli(self, *words: str, check: bool = True, stdin: str = "") -> Result:
        """Run the mudra command against this service's data, in this process."""
        done = self._store.cli(words, stdin)
        assert not check or done.exit_code == 0, done.output
        return done

    def in_store(self, act: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Act on this service's data as its commands do, in this process."""
        return self._store.act(act)

    def in_own_store(self, act: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Act as a command does that opens the store for itself, in this thread."""
        return self._store.act_apart(act)

    async def password_hash(self, dependencies: Dependencies) -> str:
        """The hash of PASSWORD under this service's pepper, made once."""
        if not self._password_hash:
            with contextlib.nullcontext() if self.full_hashes else cheap_hashes():
                self._password_hash = await hash_once(dependencies, PASSWORD)
        return self._password_hash

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Stop it and give its exit code."""
        for client in self._clients:
            client.close()
        self._store.close()
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)
