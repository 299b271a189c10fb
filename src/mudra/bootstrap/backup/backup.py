"""Makes a backup of the database while the service runs (`mudra backup create`)."""

import time
from importlib.metadata import version
from pathlib import Path

import msgspec

from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.config import Settings
from mudra.bootstrap.node.serve import open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.overview.backups import BackupDetails, BackupMade, BackupOrder, OnProgress
from mudra.shared.ids import fresh_id
from mudra.storage.backup.archive import (
    DUMP,
    Measured,
    details_file,
    make_durable,
    name_of,
    open_private,
)
from mudra.storage.backup.encryption import encrypt, recipients
from mudra.storage.backup.postgres_dump import dumping
from mudra.storage.backup.restored_store import mark, mark_finished
from mudra.storage.database.migrate import HEAD


def make_backup(settings: Settings, order: BackupOrder, on_progress: OnProgress) -> BackupMade:
    """Dump one snapshot of the database, encrypt it and describe it; the service runs on.

    Raises CommandFailed when folder or recipient is missing, BackupKeyInvalid, DumpFailed.
    """
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
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    began, at = time.monotonic(), ServiceClock()()
    dump = folder / (name_of(at) + DUMP)
    partial = dump.with_name(dump.name + ".part")
    with open_server(settings) as (found, _):
        owner = owner_of(settings, found)
        backup_id = fresh_id()
        size = mark(owner, backup_id)
        try:
            with open_private(partial) as file, dumping(owner) as dumped:
                plain = Measured(dumped, lambda done: on_progress("dumping", done, size))
                written = Measured(file)
                encrypt(plain, written, to)
            details = BackupDetails(
                backup_id=backup_id,
                made_at=at,
                mudra=version("mudra"),
                schema=HEAD,
                database_bytes=size,
                dump_bytes=plain.count,
                file_bytes=written.count,
                sha256=written.sha256,
                seconds=round(time.monotonic() - began, 3),
                metrics_included=settings.metrics_database_url is None,
            )
            _keep(dump, partial, details)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise
        mark_finished(owner, at)
    return BackupMade(dump, details)


def _keep(dump: Path, partial: Path, details: BackupDetails) -> None:
    """Give dump and description their names, the description last: it proves the dump whole."""
    with partial.open("r+b") as file:
        make_durable(file, partial, dump)
    description = details_file(dump)
    described = description.with_name(description.name + ".part")
    with open_private(described) as file:
        file.write(msgspec.json.format(msgspec.json.encode(details), indent=2) + b"\n")
        make_durable(file, described, description)
