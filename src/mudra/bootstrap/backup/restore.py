"""Restores a backup, and does what follows a restore (`mudra restore`)."""

import os
from pathlib import Path

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.bootstrap.backup.place import alone, refuse_other_data, refuse_users
from mudra.bootstrap.backup.recovery import rolled_back
from mudra.bootstrap.node.serve import open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.overview.backups import OnProgress, RestoreOrder, RestoreReport
from mudra.overview.restored_store import clear, look
from mudra.overview.rollback import Origin
from mudra.settings.settings import Settings
from mudra.shared.backup_details import BackupDetails
from mudra.storage.backup.archive import Measured, check_file, read_details
from mudra.storage.backup.encryption import Identity, decrypt, read_identity
from mudra.storage.backup.postgres_dump import restoring
from mudra.storage.crypto.master_key import load_master_keys


class _Backup(Struct, frozen=True):
    file: Path
    details: BackupDetails


def check_backup(file: Path, key: Path, on_progress: OnProgress) -> BackupDetails:
    """Read a backup to its end and compare it with its description; nothing is restored.

    Raises BackupDamaged, BackupKeyInvalid, BackupUnreadable.
    """
    identity = read_identity(key)
    details = read_details(file)
    size = details.file_bytes
    check_file(file, details, lambda done: on_progress("checking", done, size))
    with file.open("rb") as encrypted, Path(os.devnull).open("wb") as nowhere:
        plain = Measured(nowhere, lambda n: on_progress("decrypting", n, details.dump_bytes))
        decrypt(encrypted, plain, identity)
    return details


def restore(
    settings: Settings, order: RestoreOrder, caller: Caller, on_progress: OnProgress
) -> RestoreReport:
    """Restore a backup whole or not at all, then do what must follow.

    Run again after it was cut off, it goes on; after it was finished, it does nothing.
    Raises CommandFailed when something uses the place, or it holds other data; BackupDamaged,
    BackupKeyInvalid, BackupUnreadable, DumpFailed, MasterKeyError.
    """
    identity = read_identity(order.identity)
    backup = _Backup(order.file, read_details(order.file))
    details = backup.details
    size = details.file_bytes
    check_file(order.file, details, lambda done: on_progress("checking", done, size))
    # Asked for before anything is changed: the backup does not hold it.
    load_master_keys(os.environ, settings.data_dir, create=False, database_is_sealed=True)
    with alone(settings) as set_aside:
        aside = set_aside() if order.replace else None
        with open_server(settings) as (found, _):
            owner = owner_of(settings, found)
            before = look(owner)
            refuse_users(settings, before)
            refuse_other_data(settings, before, details)
            if before.is_copy_of(details) and not before.unfinished:
                return RestoreReport(details, already=True)
            if before.empty:
                _load(backup, owner, identity, on_progress)
            origin = Origin(details.backup_id, details.made_at, order.is_rehearsal)
            done, lost = rolled_back(settings, origin, caller)
    return RestoreReport(
        details,
        set_aside=aside,
        tokens_ended=done.tokens_ended,
        members_notified=done.members_notified,
        revoked_again=done.revoked_again,
        keys_dropped_again=done.keys_dropped_again,
        lost=lost,
    )


def _load(backup: _Backup, into: str, identity: Identity, on_progress: OnProgress) -> None:
    clear(into)  # of the tables that `mudra database prepare` or a start made
    size = backup.details.dump_bytes
    with backup.file.open("rb") as file, restoring(into) as stream:
        plain = Measured(stream, lambda done: on_progress("restoring", done, size))
        decrypt(file, plain, identity)
    if not look(into).is_copy_of(backup.details):
        raise CommandFailed(
            f"{backup.file} is another backup than the description next to it says: name the file "
            "with its own description, and an empty database"
        )
