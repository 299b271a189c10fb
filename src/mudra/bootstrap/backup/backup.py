"""Makes a backup of the databases while the service runs (`mudra backup create`)."""

import contextlib
import os
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
import psycopg
from msgspec import Struct

from mudra.bootstrap.backup.place import refuse_unfinished
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.config import Settings
from mudra.bootstrap.node.serve import metrics_address, open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit
from mudra.overview.backups import BackupDetails, BackupMade, BackupOrder, OnProgress, Part
from mudra.shared.build_version import version
from mudra.shared.ids import fresh_id
from mudra.storage.backup.archive import (
    DUMP,
    METRICS,
    Measured,
    clear_out,
    details_file,
    make_durable,
    name_of,
    open_private,
    part_of,
)
from mudra.storage.backup.encryption import Recipient, encrypt, recipients
from mudra.storage.backup.postgres_dump import (
    DumpFailed,
    dumping,
    held_snapshot,
    only_backup,
    unreadable_part,
)
from mudra.storage.backup.restored_store import look, mark, mark_finished
from mudra.storage.database.migrate import HEAD
from mudra.storage.metrics.apart.pairing import (
    MetricsUnreachable,
    pairing_of,
    reaching,
    service_of,
)

_ALONE: Final = "or leave its metrics out by --only first"
_OWNERS: Final = {
    Part.FIRST: "MUDRA_DATABASE_OWNER_URL",
    Part.METRICS: "MUDRA_METRICS_DATABASE_OWNER_URL",
}


class _Making(Struct, frozen=True):
    """One run: where its files go, who can decrypt them, when it began."""

    folder: Path
    to: list[Recipient]
    at: datetime
    on_progress: OnProgress


class _Begun(Struct, frozen=True):
    """A database that has the mark of a backup, from before its snapshot."""

    conninfo: str
    part: Part
    backup_id: str
    size: int
    pairing: str
    """Of the service whose metrics are apart; "" where there is one database."""


def make_backup(
    settings: Settings, order: BackupOrder, on_progress: OnProgress
) -> list[BackupMade]:
    """Dump a snapshot of each database, encrypt and describe it; the service runs on.

    With metrics apart their snapshot is taken first, a moment before that of the first database
    (decision 0124). Where the second database cannot be backed up, the first one is, and
    CommandFailed says both. Raises CommandFailed also when folder or recipient is missing, the
    folder takes no file, the role of an address may not read all tables or a restore of the first
    database was not finished; BackupKeyInvalid, DumpFailed.
    """
    making = _making(settings, order, on_progress)
    second = metrics_address(settings, owner=True)
    if second is None and order.only is Part.METRICS:
        raise CommandFailed("name the second database: MUDRA_METRICS_DATABASE_URL")
    with open_server(settings) as (found, _):
        # Not before: an embedded server keeps the priority of the one that starts it.
        os.nice(order.nice)
        first = owner_of(settings, found)
        pairing = _pairing(first)
        if pairing and second is None and order.only is None:
            raise CommandFailed(
                "the metrics of this service are in a second database: set "
                f"MUDRA_METRICS_DATABASE_URL, {_ALONE}"
            )
        with only_backup(first):
            clear_out(making.folder)
            # Of either database: its mark would take the place of that by which a restore goes on.
            refuse_unfinished(look(first))
            if second is None or order.only is Part.FIRST:
                return [_dump(making, _begin(making.at, first, Part.FIRST, pairing))]
            if order.only is Part.METRICS:
                return [_metrics_alone(making, second, pairing)]
            return _both(making, first, second, pairing)


def _metrics_alone(making: _Making, second: str, pairing: str) -> BackupMade:
    with reaching():
        metrics = _begin_metrics(making.at, second, pairing)
        with held_snapshot(second) as snapshot:
            return _dump(making, metrics, snapshot)


def _both(making: _Making, first: str, second: str, pairing: str) -> list[BackupMade]:
    """Dump both; the first one also where the second one cannot be, and then CommandFailed."""
    made: list[BackupMade] = []
    with contextlib.ExitStack() as holding:
        try:
            with reaching():
                metrics = _begin_metrics(making.at, second, pairing)
                snapshot = holding.enter_context(held_snapshot(second))
        except (CommandFailed, MetricsUnreachable) as error:
            made.append(_dump(making, _begin(making.at, first, Part.FIRST, pairing)))
            raise _without_metrics(made[0], error) from error
        # Its snapshot is the later one: what it has of the metrics, they have.
        made.append(_dump(making, _begin(making.at, first, Part.FIRST, pairing)))
        try:
            with reaching():
                made.append(_dump(making, metrics, snapshot))
        except (CommandFailed, DumpFailed, MetricsUnreachable) as error:
            raise _without_metrics(made[0], error) from error
    return made


def _without_metrics(first: BackupMade, error: Exception) -> CommandFailed:
    return CommandFailed(
        f"the first database is in {first.file}, the metrics are in no backup: {error}",
        Exit.UNREACHABLE if isinstance(error, MetricsUnreachable) else Exit.FAILED,
    )


def _making(settings: Settings, order: BackupOrder, on_progress: OnProgress) -> _Making:
    folder = order.folder or settings.backup_dir
    to = recipients(order.recipients or settings.backup_recipients)
    if folder is None or not to:
        raise CommandFailed(
            "name the folder of the backups and who can decrypt them: --to and --recipient, or "
            "MUDRA_BACKUP_DIR and MUDRA_BACKUP_RECIPIENTS; mudra backup key makes a pair of keys"
        )
    if settings.database_url is None and not settings.data_dir.is_dir():
        raise CommandFailed(
            f"there is no data directory {settings.data_dir}: name it by --data-dir"
        )
    with _writing(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return _Making(folder, to, ServiceClock()(), on_progress)


def _pairing(first: str) -> str:
    try:
        return pairing_of(first)
    except psycopg.errors.UndefinedTable:
        raise CommandFailed(
            "the database has no tables of Mudra: there is nothing to back up; check "
            "MUDRA_DATABASE_URL or --data-dir"
        ) from None


def _begin_metrics(at: datetime, second: str, pairing: str) -> _Begun:
    """Begin a backup of the second database; raises CommandFailed unless it is of this pairing."""
    theirs = "" if look(second).empty else pairing_of(second)
    if not theirs or theirs != pairing:
        if not theirs:
            state = "is empty"
        elif service_of(theirs) == service_of(pairing):
            state = "is of another pairing: one of the two was replaced since"
        else:
            state = "belongs to another service"
        raise CommandFailed(
            f"the database of MUDRA_METRICS_DATABASE_URL {state}: name the one that has this "
            f"service's metrics, {_ALONE}"
        )
    return _begin(at, second, Part.METRICS, pairing)


def _begin(at: datetime, conninfo: str, part: Part, pairing: str) -> _Begun:
    """Mark a database; raises CommandFailed where its role may not read all of it."""
    # Asked for before: pg_dump says it ahead of a list of all tables, or of a sequence's name.
    if (found := unreadable_part(conninfo)) is not None:
        role, name = found
        raise CommandFailed(
            f"the role {role} may not read all that a backup holds ({name}): it is made as the "
            f"role that owns the schema, so set {_OWNERS[part]}"
        )
    backup_id = fresh_id()
    size = mark(conninfo, backup_id, at, of_metrics=part is Part.METRICS)
    return _Begun(conninfo, part, backup_id, size, pairing)


def _dump(making: _Making, begun: _Begun, snapshot: str | None = None) -> BackupMade:
    """Write one database's file and its description."""
    began, of_metrics = time.monotonic(), begun.part is Part.METRICS
    dump = making.folder / (name_of(making.at) + (METRICS if of_metrics else "") + DUMP)
    partial, step = part_of(dump), "dumping metrics" if of_metrics else "dumping"
    try:
        with _writing(making.folder), open_private(partial) as file:
            with dumping(begun.conninfo, snapshot) as dumped:
                plain = Measured(dumped, lambda done: making.on_progress(step, done, begun.size))
                written = Measured(file)
                encrypt(plain, written, making.to)
            details = BackupDetails(
                backup_id=begun.backup_id,
                made_at=making.at,
                mudra=version(),
                schema=HEAD,
                database_bytes=begun.size,
                dump_bytes=plain.count,
                file_bytes=written.count,
                sha256=written.sha256,
                seconds=round(time.monotonic() - began, 3),
                metrics_included=of_metrics or not begun.pairing,
                metrics_only=of_metrics,
                service=service_of(begun.pairing),
            )
            make_durable(file, partial, dump)
            _describe(dump, details)
    finally:
        partial.unlink(missing_ok=True)  # else it has its name
    mark_finished(begun.conninfo, making.at)
    return BackupMade(dump, details)


def _describe(dump: Path, details: BackupDetails) -> None:
    """Write the description of a dump that is whole: without it, no one can restore the dump."""
    description = details_file(dump)
    described = part_of(description)
    try:
        with open_private(described) as file:
            file.write(msgspec.json.format(msgspec.json.encode(details), indent=2) + b"\n")
            make_durable(file, described, description)
    except BaseException:
        for one in (described, description, dump):
            with contextlib.suppress(OSError):  # what went wrong first is what to say
                one.unlink()
        raise


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Raise CommandFailed where the folder of the backups takes no file."""
    try:
        yield
    except OSError as error:
        raise CommandFailed(
            f"the backup cannot be written to {folder}: {error.strerror or error}"
        ) from error
