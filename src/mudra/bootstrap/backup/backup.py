"""Makes a backup of the database while the service runs (`mudra backup create`)."""

import contextlib
import os
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
from msgspec import Struct

from mudra.bootstrap.backup.place import refuse_unfinished
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.node.serve import open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.overview.backups import BackupMade, BackupOrder, OnProgress
from mudra.overview.restored_store import look, mark, mark_finished
from mudra.settings.settings import Settings
from mudra.shared.backup_details import BackupDetails
from mudra.shared.build_version import version
from mudra.shared.ids import fresh_id
from mudra.storage.backup.archive import (
    DUMP,
    Measured,
    clear_out,
    delete_older,
    details_file,
    make_durable,
    name_of,
    open_private,
    part_of,
)
from mudra.storage.backup.encryption import Recipient, encrypt, recipients
from mudra.storage.backup.postgres_dump import dumping, only_backup, unreadable_part
from mudra.storage.database.schema.migrate import HEAD


class _Making(Struct, frozen=True):
    """One run: where its files go, who can decrypt them, when it began."""

    folder: Path
    to: list[Recipient]
    at: datetime
    on_progress: OnProgress


def make_backup(settings: Settings, order: BackupOrder, on_progress: OnProgress) -> BackupMade:
    """Dump a snapshot of the database, encrypt and describe it; the service runs on.

    Raises CommandFailed when folder or recipient is missing, the folder takes no file, the
    database is not Mudra's, its role may not read all tables or a restore of it was not finished;
    BackupKeyInvalid, DumpFailed.
    """
    making = _making(settings, order, on_progress)
    with open_server(settings) as (found, _):
        # Not before: an embedded server keeps the priority of the one that starts it.
        os.nice(order.nice)
        conninfo = owner_of(settings, found)
        with only_backup(conninfo):
            clear_out(making.folder)
            contents = look(conninfo)
            if not contents.cluster:
                raise CommandFailed(
                    "the database has no tables of Mudra: there is nothing to back up; check "
                    "MUDRA_DATABASE_URL or --data-dir"
                )
            # Its mark would take the place of that by which a restore goes on.
            refuse_unfinished(contents)
            made = _dump(making, conninfo)
            if not order.keep_days:
                return made
            before = making.at - timedelta(days=order.keep_days)
            return msgspec.structs.replace(made, deleted=delete_older(making.folder, before))


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


def _begin(at: datetime, conninfo: str) -> tuple[str, int]:
    """Mark a database; returns the backup's ID and the database's size in bytes.

    Raises CommandFailed where its role may not read all of it.
    """
    # Asked for before: pg_dump says it ahead of a list of all tables, or of a sequence's name.
    if (found := unreadable_part(conninfo)) is not None:
        role, name = found
        raise CommandFailed(
            f"the role {role} may not read all that a backup holds ({name}): it is made as the "
            "role that owns the schema, so set MUDRA_DATABASE_OWNER_URL"
        )
    backup_id = fresh_id()
    return backup_id, mark(conninfo, backup_id, at)


def _dump(making: _Making, conninfo: str) -> BackupMade:
    """Write the database's file and its description."""
    backup_id, size = _begin(making.at, conninfo)
    began, dump = time.monotonic(), making.folder / (name_of(making.at) + DUMP)
    partial = part_of(dump)
    try:
        with _writing(making.folder), open_private(partial) as file:
            with dumping(conninfo) as dumped:
                plain = Measured(dumped, lambda done: making.on_progress("dumping", done, size))
                written = Measured(file)
                encrypt(plain, written, making.to)
            details = BackupDetails(
                backup_id=backup_id,
                made_at=making.at,
                mudra=version(),
                schema=HEAD,
                database_bytes=size,
                dump_bytes=plain.count,
                file_bytes=written.count,
                sha256=written.sha256,
                seconds=round(time.monotonic() - began, 3),
            )
            make_durable(file, partial, dump)
            _describe(dump, details)
    finally:
        partial.unlink(missing_ok=True)  # else it has its name
    mark_finished(conninfo, making.at)
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
