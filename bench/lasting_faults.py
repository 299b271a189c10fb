"""Faults that stay once they are made, for `bench/alerts.py`: of the database, of disks, of nodes.

The database is a PostgreSQL of its own, named by MUDRA_DATABASE_URL.
"""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
from tests.faults.postgres.standby import Standby, standby
from tests.support.database.own_postgres import as_superuser, own_postgres
from tests.support.process import running_service
from tests.support.registry.registry_members import entries_that_share_a_prime
from tests.support.service import Service
from tests.support.set_clock import SetClock

from bench.alert_faults import AnyScene, Fault, Other, Place, Scene, again_and_again, output_kept
from bench.alert_watch import scrape
from bench.release_node import ended, start
from bench.sizes import SHORT
from bench.support import free_port

ROOM: Final = "2g"
_LITTLE: Final = "512m"
"""Of the watched disk; the alert is about less than 1 GiB."""
_A_SECOND: Final = 1 << 19
_MORE_THAN_LITTLE: Final = 1200 << 20
_LEFT: Final = 2
"""Connections that are left to the service when all others are held."""
_FAILURES: Final = 1100
_SECONDS_AHEAD: Final = 20


class Lasting(Place, frozen=True, kw_only=True):
    """A service, and the superuser's address of its database."""

    service: Service
    url: str
    disk: Path = Path()
    clock: SetClock | None = None
    standby: Standby | None = None
    mail: Other | None = None
    audit: Other | None = None

    def say(self, *statements: str) -> None:
        """Execute statements as the database's superuser."""
        as_superuser(self.url, *statements)


@contextlib.contextmanager
def started(
    folder: Path,
    url: str,
    *,
    sandbox: bool = False,
    forked: bool = SHORT,
    variables: Mapping[str, str],
    **parts: Any,
) -> Iterator[Lasting]:
    """Run a service on a database."""
    telemetry = free_port()
    every: dict[str, Any] = {
        "MUDRA_DATABASE_URL": url,
        "MUDRA_TELEMETRY_PORT": str(telemetry),
        **variables,
    }
    with (
        running_service(
            folder / "data", sandbox=sandbox, full_hashes=not forked, **every
        ) as service,
        output_kept(service.process.stdout, folder / "service.log"),
    ):
        port = int(service.root.rpartition(":")[2])
        yield Lasting(
            folder=folder, port=port, telemetry=telemetry, service=service, url=url, **parts
        )


@contextlib.contextmanager
def _on_a_machine(folder: Path) -> Iterator[Lasting]:
    with (
        own_postgres(folder / "database") as url,
        small_disk(folder / "watched") as disk,
        started(folder, url, variables={"MUDRA_WATCHED_DISKS": str(disk)}, disk=disk) as place,
    ):
        yield place


@contextlib.contextmanager
def _with_a_standby(folder: Path) -> Iterator[Lasting]:
    """It has a slot, and the primary waits for it without an end: it may be behind for long."""
    with (
        own_postgres(folder / "database") as url,
        standby(url, folder / "database", folder / "standby") as second,
        small_disk(folder / "watched") as disk,
    ):
        read_again = "SELECT pg_reload_conf()"
        slot = "SELECT pg_create_physical_replication_slot('second', true)"
        as_superuser(url, slot, "ALTER SYSTEM SET wal_sender_timeout = 0", read_again)
        as_superuser(second.url, "ALTER SYSTEM SET primary_slot_name = 'second'", read_again)
        variables = {"MUDRA_WATCHED_DISKS": str(disk)}
        with started(folder, url, variables=variables, disk=disk, standby=second) as place:
            yield place


@contextlib.contextmanager
def _with_another_clock(folder: Path) -> Iterator[Lasting]:
    """Forked from a program whose clock can be set, as no machine's clock can be here."""
    clock = SetClock(folder / "seconds")
    with (
        own_postgres(folder / "database") as url,
        started(folder, url, forked=True, variables=clock.variables, clock=clock) as place,
    ):
        yield place


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of its own in memory, with room; needs root."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={ROOM}", "tmpfs", place], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


@contextlib.contextmanager
def _disk_fills(place: Lasting) -> Iterator[None]:
    resize(place.disk, _LITTLE)
    try:
        yield
    finally:
        resize(place.disk, ROOM)


@contextlib.contextmanager
def _disk_fills_slowly(place: Lasting) -> Iterator[None]:
    """More than a gigabyte stays free: the forecast alone is about it."""
    file = place.disk / "growing"

    def grow() -> None:
        if shutil.disk_usage(place.disk).free > _MORE_THAN_LITTLE:
            with file.open("ab") as growing:
                growing.write(bytes(_A_SECOND))

    try:
        with again_and_again(grow, 1.0):
            yield
    finally:
        file.unlink()


def resize(disk: Path, size: str) -> None:
    """Give a disk another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", disk], check=True)


@contextlib.contextmanager
def _standby_is_behind(place: Lasting) -> Iterator[None]:
    """It follows, and takes nothing."""
    assert place.standby is not None
    place.standby.freeze()
    try:
        yield
    finally:
        place.standby.thaw()


@contextlib.contextmanager
def _standby_is_gone(place: Lasting) -> Iterator[None]:
    place.say("SELECT pg_create_physical_replication_slot('gone', true)")
    try:
        yield
    finally:
        place.say("SELECT pg_drop_replication_slot('gone')")


@contextlib.contextmanager
def _connections_are_used_up(place: Lasting) -> Iterator[None]:
    held: list[psycopg.Connection[tuple[object, ...]]] = []
    try:
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                held.append(psycopg.connect(place.url))
        for one in held[:_LEFT]:
            one.close()
        yield
    finally:
        for one in held:
            one.close()


@contextlib.contextmanager
def _database_is_read_only(place: Lasting) -> Iterator[None]:
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    name = psycopg.conninfo.conninfo_to_dict(place.url)["dbname"]
    place.say(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on', end)
    try:
        yield
    finally:
        place.say(
            "SET default_transaction_read_only = off",
            f'ALTER DATABASE "{name}" RESET default_transaction_read_only',
            end,
        )


@contextlib.contextmanager
def _audit_is_changed(place: Lasting) -> Iterator[None]:
    """An event says another actor; the repair writes the true one back."""
    first = "WHERE seq = (SELECT min(seq) FROM audit_event)"
    with psycopg.connect(place.url) as connection:
        row = connection.execute(f"SELECT actor FROM audit_event {first}".encode()).fetchone()
    assert row is not None
    place.say(f"UPDATE audit_event SET actor = 'nobody' {first}")
    place.service.cli("audit", "verify", check=False)
    try:
        yield
    finally:
        place.say(f"UPDATE audit_event SET actor = '{row[0]}' {first}")
        place.service.cli("audit", "verify")


@contextlib.contextmanager
def _keys_are_weak(place: Lasting) -> Iterator[None]:
    """The keys of two members share a prime; the repair retires both entries."""
    entity_ids = entries_that_share_a_prime(place.service)
    yield
    for entity_id in entity_ids:
        place.service.cli("registry", "retire", entity_id, "--reason", "its key is weak", "--yes")


@contextlib.contextmanager
def _audit_is_not_verified(place: Lasting) -> Iterator[None]:
    _note(place, "audit-intact-at", timedelta(hours=27))
    yield
    place.service.cli("audit", "verify")


@contextlib.contextmanager
def _backup_is_old(place: Lasting) -> Iterator[None]:
    _note(place, "backup-finished", timedelta(days=2))
    yield
    _note(place, "backup-finished", timedelta())


def _note(place: Lasting, fact: str, age: timedelta) -> None:
    """Let what the service noted last be so old."""
    at = (datetime.now(UTC) - age).isoformat()
    place.say(
        f"INSERT INTO service_fact (name, value) VALUES ('{fact}', '{at}')"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value"
    )


@contextlib.contextmanager
def _job_fails(place: Lasting) -> Iterator[None]:
    place.say("ALTER TABLE link_request RENAME TO link_request_away")
    try:
        yield
    finally:
        place.say("ALTER TABLE link_request_away RENAME TO link_request")


@contextlib.contextmanager
def _many_guesses(place: Lasting) -> Iterator[None]:
    """They are over after five minutes."""
    place.say(
        "INSERT INTO address_failure (address_key, at)"
        f" SELECT sha256(n::text::bytea), now() FROM generate_series(1, {_FAILURES}) AS n"
    )
    yield


@contextlib.contextmanager
def _clock_is_ahead(place: Lasting) -> Iterator[None]:
    assert place.clock is not None
    place.clock.set(_SECONDS_AHEAD)
    try:
        yield
    finally:
        place.clock.set(0)


@contextlib.contextmanager
def _releases_differ(place: Lasting) -> Iterator[None]:
    """A second node on the same database has the commit before this one."""
    tree, telemetry = place.folder / "before", free_port()
    subprocess.run(["git", "clone", "--quiet", "--shared", "--no-checkout", ".", tree], check=True)
    subprocess.run(["git", "-C", tree, "checkout", "--quiet", "HEAD~1"], check=True)
    settings = {
        "MUDRA_DATABASE_URL": place.url,
        "MUDRA_TELEMETRY_PORT": str(telemetry),
        "MUDRA_MASTER_KEY": (place.service.data_dir / "master.key").read_text(),
    }
    node = start(tree, place.folder / "second", free_port(), settings)
    with ended([node]):
        scrape(place.folder, place.telemetry, telemetry)
        try:
            yield
        finally:
            scrape(place.folder, place.telemetry)
            node.stop()


SCENES: Final[dict[str, AnyScene]] = {
    "machine": Scene[Lasting](
        _on_a_machine,
        (
            Fault(
                ("MudraConnectionsUsedUp",),
                "others hold all connections of PostgreSQL but two",
                _connections_are_used_up,
            ),
            Fault(("MudraDiskFilling",), "a watched disk has 512 MB left", _disk_fills),
            Fault(("MudraBackupOld",), "the last backup is noted two days ago", _backup_is_old),
            Fault(
                ("MudraAuditNotVerified",),
                "the last good verification is noted 27 hours ago",
                _audit_is_not_verified,
            ),
        ),
    ),
    "own database": Scene[Lasting](
        _on_a_machine,
        (
            Fault(("MudraStandby",), "a slot whose standby is gone", _standby_is_gone),
            Fault(
                ("MudraDatabaseTakesNoChanges",),
                "the database is set to read only",
                _database_is_read_only,
            ),
            Fault(
                ("MudraAuditContradicted",),
                "a row of the audit is changed, then `mudra audit verify`",
                _audit_is_changed,
            ),
            Fault(("MudraWeakKey",), "the keys of two members share a prime", _keys_are_weak),
            Fault(("MudraJobFailing",), "the table of a job is renamed", _job_fails, goal_s=360.0),
        ),
    ),
    "standby": Scene[Lasting](
        _with_a_standby,
        (
            Fault(
                ("MudraStandby",),
                "a standby is frozen, a minute behind",
                _standby_is_behind,
                goal_s=180.0,
            ),
            Fault(
                ("MudraDiskFilling",),
                "a watched disk fills by half a megabyte a second",
                _disk_fills_slowly,
                goal_s=1080.0,
            ),
        ),
    ),
    "nodes": Scene[Lasting](
        _with_another_clock,
        (
            Fault(("MudraClockWrong",), "the node's clock is 20 s ahead", _clock_is_ahead),
            Fault(
                ("MudraReleasesDiffer",),
                "a second node runs the commit before",
                _releases_differ,
                goal_s=390.0,
            ),
            Fault(("MudraGuessing",), "1,100 sign-ins failed just now", _many_guesses),
        ),
    ),
}
