"""A real service for tests: started as a process, spoken to over HTTP, its time moved by hand.

Every test that may fail sign-ins speaks from a loopback address of its own
(`Service.client`), since failures are counted by address.
"""

import contextlib
import functools
import itertools
import os
import re
import select
import signal
import socket
import ssl
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import msgspec
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database.kept_program import keeping_open
from tests.support.database.open_store import OpenStore
from tests.support.database.template_database import prepare
from tests.support.preloaded_program import ForkedProgram
from typer.testing import CliRunner, Result

from mudra.audit.event import Caller
from mudra.bootstrap import local_store
from mudra.bootstrap.command_line import app
from mudra.bootstrap.config import load_settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.demo.activation import activate, hash_once
from mudra.http.response.sandbox_responses import SandboxMail, mail_response
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.storage.mail.outbox import Outbox

T = TypeVar("T")
PASSWORD = "a-password-for-tests-only"
START_S = 180.0
NO_TIME = "PT0S"
# One for all: to load the authorities' certificates takes 40 ms for each client.
NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
_addresses = itertools.count(2)
_ADDRESS_LINE = re.compile(r"Mudra answers at (?P<issuer>http://\S+)")


@dataclass
class Service:
    """A running service."""

    process: subprocess.Popen[str] | ForkedProgram
    issuer: str
    data_dir: Path
    environment: dict[str, str]
    full_hashes: bool = False
    keeps_store: bool = False
    _store: OpenStore | None = None
    _clients: list[httpx2.Client] = field(default_factory=list)
    _password_hash: str = ""

    @property
    def root(self) -> str:
        """Address of the service without the path of the token service."""
        return self.issuer.removesuffix("/iam")

    def client(self, address: str | None = None, kept: int = 20) -> httpx2.Client:
        """A client that speaks from a loopback address of its own, and keeps some connections."""
        limits = httpx2.Limits(max_connections=100, max_keepalive_connections=kept)  # as by default
        own = address or new_address()
        transport = httpx2.HTTPTransport(local_address=own, verify=NO_TLS, limits=limits)
        client = httpx2.Client(base_url=self.issuer, transport=transport, timeout=30)
        self._clients.append(client)
        return client

    @functools.cached_property
    def _near(self) -> httpx2.Client:
        """A client that goes to whatever worker there is: one of two may be stopped by a test."""
        return self.client(kept=0)

    def advance(self, duration: str) -> datetime:
        """Move the service's clock forward, on all workers; give its time then."""
        if self._store is not None and duration != NO_TIME:
            self._store.leave()
        answer = self._near.post(f"{self.root}/sandbox/v1/clock", json={"advance": duration})
        assert answer.status_code == 200, answer.text
        return datetime.fromisoformat(answer.json()["now"])

    def wall(self) -> float:
        """The service's time in seconds since 1970: other tests may have moved it by years."""
        return self.advance(NO_TIME).timestamp()

    def wait_until(
        self,
        condition: Callable[[], bool],
        seconds: float = 20,
        show: Callable[[], object] = lambda: "",
    ) -> None:
        """Return once a condition holds; what this waits for is done by a process of the service.

        `show` gives what a failure shows, such as the answer that the condition is about. It is
        asked ever more rarely, since to ask takes the time that the service needs.
        """
        start = time.monotonic()
        while not condition():
            waited = time.monotonic() - start
            assert waited < seconds, f"waited in vain: {show()}"
            time.sleep(min(0.5, 0.02 + waited / 10))

    def introspected(self, token: str, entity_id: str, secret: str) -> dict[str, object]:
        """What introspection says of a token, asked by an entity (RFC 7662)."""
        answer = self._near.post(
            "/oauth2/introspect", data={"token": token}, auth=(entity_id, secret)
        )
        assert answer.status_code == 200, answer.text
        facts = answer.json()
        assert isinstance(facts, dict)
        return facts

    def cli(self, *words: str, check: bool = True, stdin: str = "") -> Result:
        """Run the mudra command against this service's data, in this process."""
        with contextlib.ExitStack() as kept:
            if self.keeps_store:
                settings = load_settings(self.environment, {})
                kept.enter_context(keeping_open(words[0], settings, self._kept))
            done = CliRunner().invoke(app, list(words), input=stdin, env=self.environment)
        assert not check or done.exit_code == 0, done.output
        return done

    def _kept(self) -> OpenStore:
        if self._store is None:
            self._store = OpenStore(load_settings(self.environment, {}))
        return self._store

    def in_store(self, act: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Act on this service's data as its commands do, in this process."""
        if not self.keeps_store:
            return local_store.in_store(load_settings(self.environment, {}), act)
        return self._kept().act(act)

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
        if self._store is not None:
            self._store.close()
            self._store = None
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(60)


def new_address() -> str:
    """A loopback address that no other test of this process uses."""
    n = next(_addresses) + (os.getpid() % 200) * 1000
    return f"127.{1 + n // 65025 % 250}.{n // 255 % 255}.{1 + n % 254}"


@contextlib.contextmanager
def running_service(
    data_dir: Path,
    *options: str,
    port: int = 0,
    sandbox: bool = True,
    from_nothing: bool = False,
    full_hashes: bool = False,
    keeps_store: bool = False,
    passed: Sequence[socket.socket] = (),
    **variables: str,
) -> Iterator[Service]:
    """Start `mudra serve` on a free port and stop it at the end.

    It is forked from a process that has the code loaded, but for the two that start as `mudra`
    does: `from_nothing` leaves it to the service to make its database, as on its very first start;
    `full_hashes` makes a password hash cost what the setting says; `keeps_store` leaves the store
    open between the members that tests make, where no test kills the service or its database.
    Sockets that are `passed` are passed as systemd does it.
    """
    if not from_nothing and "MUDRA_DATABASE_URL" not in variables:
        prepare(data_dir)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MUDRA_")
    } | {
        "MUDRA_DATA_DIR": str(data_dir),
        "MUDRA_TELEMETRY_PORT": "0",
        "MUDRA_ARGON2_MEMORY_MIB": "19",
        "MUDRA_STOP_PAUSE_S": "0",
        "MUDRA_SIGN_IN_HOURLY": "1000",
        "MUDRA_CONFIG_DIR": str(data_dir / "user-config"),
        **variables,
    }
    arguments = ["serve", *(["--sandbox"] if sandbox else []), "--port", str(port), *options]
    process: subprocess.Popen[str] | ForkedProgram
    if from_nothing or full_hashes:
        process = _started_afresh(arguments, environment, full_hashes=full_hashes)
    else:
        process = ForkedProgram(arguments, environment, passed=passed)
    try:
        issuer = _wait_for_address(process)
        environment["MUDRA_BASE_URL"] = issuer
        yield_this = Service(process, issuer, data_dir, environment, full_hashes, keeps_store)
        yield yield_this
        yield_this.stop()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def _started_afresh(
    arguments: list[str], environment: dict[str, str], *, full_hashes: bool
) -> subprocess.Popen[str]:
    program = "mudra.bootstrap.entry_point" if full_hashes else "tests.support.cheap_hashes"
    return subprocess.Popen(
        [sys.executable, "-c", f"from {program} import run; run()", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )


def _wait_for_address(process: subprocess.Popen[str] | ForkedProgram) -> str:
    assert process.stdout is not None
    deadline = time.monotonic() + START_S
    heard = ""
    while time.monotonic() < deadline:
        ready, _, _ = select.select([process.stdout], [], [], 0.5)
        if not ready:
            continue
        piece = os.read(process.stdout.fileno(), 65536).decode()
        heard += piece
        found = _ADDRESS_LINE.search(heard)
        if found and "\n" in heard[found.end() :]:
            return found["issuer"]
        if not piece:
            break
    raise AssertionError(f"the service did not start:\n{heard}")


@dataclass(frozen=True)
class Member:
    """An onboarded member with an activated admin."""

    service: Service
    entity_id: str
    email: str
    password: str
    client: httpx2.Client
    _headers: dict[str, str] = field(default_factory=dict)

    def user_token(self) -> str:
        """Sign in and give the User Access Token."""
        answer = self.client.post(
            "/v1/user/token/generate", data={"username": self.email, "password": self.password}
        )
        assert answer.status_code == 200, answer.text
        token = answer.json()["accessToken"]
        assert isinstance(token, str)
        return token

    def bearer(self) -> dict[str, str]:
        """An Authorization header with the latest User Access Token, of a first sign-in if none."""
        return dict(self._headers) or self.sign_in()

    def sign_in(self) -> dict[str, str]:
        """Sign in: an Authorization header with a new token, the latest from now on."""
        self._headers["Authorization"] = f"Bearer {self.user_token()}"
        return dict(self._headers)

    def read(self, headers: dict[str, str] | None = None) -> httpx2.Response:
        """Read the secret."""
        return self.client.post(
            "/v1/entity/secret/read",
            json={"entityId": self.entity_id},
            headers=headers or self.bearer(),
        )

    def secret(self) -> str:
        """The current secret's text."""
        secret = self.read().json()["secret"]
        assert isinstance(secret, str)
        return secret

    def reset(self, headers: dict[str, str] | None = None, **members: object) -> httpx2.Response:
        """Reset the secret."""
        return self.client.post(
            "/v1/entity/secret/reset",
            json={"entityId": self.entity_id, **members},
            headers=headers or self.bearer(),
        )

    def entity_token(self, secret: str) -> httpx2.Response:
        """Ask for an Entity Access Token."""
        return self.client.post(
            "/v1/entity/token/generate", data={"id": self.entity_id, "secret": secret}
        )


def onboard(
    service: Service,
    entity_type: str = "FIP",
    *,
    email: str | None = None,
    name: str = "Kaveri Bank",
) -> tuple[str, str]:
    """Onboard a member whose admin is invited; gives entity ID and admin's address."""
    new = _new_member(entity_type, email, name)
    in_store(service, lambda dependencies: _onboarded(dependencies, new))
    return new.entity_id, new.admin_email


def mails(service: Service, to: str) -> list[dict[str, Any]]:
    """All mails to an address as `mudra mail list --json` shows them, the oldest first."""

    async def read(dependencies: Dependencies) -> list[SandboxMail]:
        async with dependencies.transaction() as tx:
            return [mail_response(mail) for mail in await tx.service(Outbox).mails(to=to)]

    return msgspec.convert(msgspec.to_builtins(in_store(service, read)), list[dict[str, Any]])


def latest_link(service: Service, email: str) -> str:
    """The link of the latest mail to an address, from the development mailbox."""
    found = mails(service, email)
    assert found, f"no mail to {email}"
    link = found[-1]["links"][0]
    assert isinstance(link, str)
    return link


def link_for_who_forgot(member: Member, headers: dict[str, str] | None = None) -> str:
    """Ask for a link to a new password; gives it once the job has sent it."""
    service, known = member.service, len(mails(member.service, member.email))
    asked = {"username": member.email}
    answer = member.client.post("/v1/user/password/forgot", json=asked, headers=headers)
    assert answer.status_code == 202, answer.text
    service.wait_until(
        lambda: any(mail["links"] for mail in mails(service, member.email)[known:]), 30
    )
    return latest_link(service, member.email)


def set_password(client: httpx2.Client, link: str, password: str = PASSWORD) -> httpx2.Response:
    """Do what the page behind the link does."""
    return client.post(
        "/v1/user/password/set", json={"token": link.rpartition("/")[2], "password": password}
    )


def new_member(service: Service, entity_type: str = "FIP") -> Member:
    """Onboard and activate a member of its own for a test, by the use cases themselves."""
    new = _new_member(entity_type)

    async def onboard_and_activate(dependencies: Dependencies) -> None:
        onboarded = await _onboarded(dependencies, new)
        await activate(dependencies, onboarded.admin, await service.password_hash(dependencies))

    in_store(service, onboard_and_activate)
    return Member(service, new.entity_id, new.admin_email, PASSWORD, service.client())


def _new_member(entity_type: str, email: str | None = None, name: str = "Kaveri Bank") -> NewMember:
    unique = uuid.uuid4().hex[:10]
    email = email or f"asha-{unique}@member.example"
    return NewMember(f"T-{unique}-{entity_type}", entity_type, name, email, "Asha Rao")


async def _onboarded(dependencies: Dependencies, new: NewMember) -> Onboarded:
    async with dependencies.transaction() as tx:
        result = await onboard_member(tx, new, owner(Caller("operator:tests")))
        assert isinstance(result, Onboarded), result
        return result


def in_store(service: Service, act: Callable[[Dependencies], Awaitable[T]]) -> T:
    """Act on a running service's data as its commands do, in this process."""
    return service.in_store(act)


def in_own_store(service: Service, act: Callable[[Dependencies], Awaitable[T]]) -> T:
    """Act as a command does that opens the store for itself, in this thread."""
    return local_store.in_store(load_settings(service.environment, {}), act)
