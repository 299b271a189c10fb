"""Faults that stay once they are made, for `bench/alerts.py`: of the database, of disks, of time.

Each breaks a service that runs in a sandbox, whose clock can be moved, over a PostgreSQL of its
own, and ends before the next one, but for time, which goes on.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import httpx2
import psycopg
from msgspec import Struct
from tests.support.database.own_postgres import as_superuser
from tests.support.http_clients import NO_TLS

_ROOM, _LITTLE = "2g", "512m"
"""Of the watched disk; the alert is about less than 1 GiB."""
_LEFT: Final = 2
"""Connections that are left to the service when all others are held."""
_FAILURES: Final = 1100


class Broken(Struct, frozen=True):
    """The service that is broken, and the superuser's address of its database."""

    url: str
    root: str
    disk: Path
    environment: dict[str, str]

    def say(self, *statements: str) -> None:
        """Execute statements as the database's superuser."""
        as_superuser(self.url, *statements)

    def command(self, *words: str) -> None:
        """Run a command of mudra on the same database; its exit code does not matter."""
        program = str(Path(sys.executable).with_name("mudra"))
        subprocess.run([program, *words], env=self.environment, check=False, capture_output=True)

    def advance(self, duration: str) -> None:
        """Move the service's clock."""
        moved = {"advance": duration}
        answer = httpx2.post(f"{self.root}/sandbox/v1/clock", json=moved, timeout=60, verify=NO_TLS)
        answer.raise_for_status()


_INVITED: Final = (
    *("member", "onboard", "BENCH-1", "--type", "FIU", "--name", "Bench"),
    *("--admin", "bench@bench.example"),
)
"""Has an email to send, a secret that ends, and an event of the audit."""
Fault = Callable[[Broken], contextlib.AbstractContextManager[None]]
"""Makes a fault for the length of the block."""


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of its own in memory, with room; needs root."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_ROOM}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@contextlib.contextmanager
def _disk_fills(broken: Broken) -> Iterator[None]:
    _resize(broken.disk, _LITTLE)
    try:
        yield
    finally:
        _resize(broken.disk, _ROOM)


def _resize(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


@contextlib.contextmanager
def _standby_is_gone(broken: Broken) -> Iterator[None]:
    broken.say("SELECT pg_create_physical_replication_slot('gone', true)")
    try:
        yield
    finally:
        broken.say("SELECT pg_drop_replication_slot('gone')")


@contextlib.contextmanager
def _connections_are_used_up(broken: Broken) -> Iterator[None]:
    held: list[psycopg.Connection[tuple[object, ...]]] = []
    try:
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                held.append(psycopg.connect(broken.url))
        for one in held[:_LEFT]:
            one.close()
        yield
    finally:
        for one in held:
            one.close()


@contextlib.contextmanager
def _database_is_read_only(broken: Broken) -> Iterator[None]:
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    name = psycopg.conninfo.conninfo_to_dict(broken.url)["dbname"]
    broken.say(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on', end)
    try:
        yield
    finally:
        broken.say(
            "SET default_transaction_read_only = off",
            f'ALTER DATABASE "{name}" RESET default_transaction_read_only',
            end,
        )


@contextlib.contextmanager
def _audit_is_changed(broken: Broken) -> Iterator[None]:
    broken.say(
        "UPDATE audit_event SET actor = 'nobody' WHERE seq = (SELECT min(seq) FROM audit_event)"
    )
    broken.command("audit", "verify")
    yield


@contextlib.contextmanager
def _many_guesses(broken: Broken) -> Iterator[None]:
    broken.say(
        "INSERT INTO address_failure (address_key, at)"
        f" SELECT sha256(n::text::bytea), now() FROM generate_series(1, {_FAILURES}) AS n"
    )
    yield


def _fact_of(name: str, age: timedelta) -> Fault:
    """Return the fault that what the service noted last was so long ago."""

    @contextlib.contextmanager
    def fault(broken: Broken) -> Iterator[None]:
        at = (datetime.now(UTC) - age).isoformat()
        broken.say(
            f"INSERT INTO service_fact (name, value) VALUES ('{name}', '{at}')"
            " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        )
        yield

    return fault


def _after(duration: str, *first: str) -> Fault:
    @contextlib.contextmanager
    def fault(broken: Broken) -> Iterator[None]:
        if first:
            broken.command(*first)
        broken.advance(duration)
        yield

    return fault


LASTING: Final[dict[str, Fault]] = {
    "MudraStandby": _standby_is_gone,
    "MudraConnectionsUsedUp": _connections_are_used_up,
    "MudraDiskFilling": _disk_fills,
    "MudraBackupOld": _fact_of("backup-finished", timedelta(days=2)),
    "MudraAuditNotVerified": _fact_of("audit-intact-at", timedelta(hours=27)),
    "MudraGuessing": _many_guesses,
    "MudraDatabaseTakesNoChanges": _database_is_read_only,
    "MudraAuditContradicted": _audit_is_changed,
    "MudraAuditExportStuck": _after("PT20M"),
    "MudraMailStuck": _after("PT20M", *_INVITED),
    "MudraMailFailing": _after("PT1H"),
    "MudraEndsSoon": _after("P175D"),
}
"""In this order: what moves the clock comes last."""


def until_ready(root: str) -> None:
    """Wait until the service is ready, for two minutes."""
    end = time.monotonic() + 120
    while time.monotonic() < end:
        with contextlib.suppress(httpx2.HTTPError):
            if httpx2.get(f"{root}/readyz", timeout=10, verify=NO_TLS).is_success:
                return
        time.sleep(0.5)
    raise TimeoutError("the service does not become ready again")


def environment_of(variables: dict[str, str], data_dir: Path) -> dict[str, str]:
    """Return the settings by which a command works as the service does."""
    ours = {**variables, "MUDRA_DATA_DIR": str(data_dir)}
    return {**{k: v for k, v in os.environ.items() if not k.startswith("MUDRA_")}, **ours}
