"""Backups and restores, in the shapes that commands show."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from mudra.audit.acts import Act
from mudra.shared.backup_details import BackupDetails

OnProgress = Callable[[str, int, int], None]
"""Is given the step, and how many bytes of how many are done; 0 of 0 where no one knows."""


class BackupOrder(Struct, frozen=True):
    """The place of a backup and the keys that can decrypt it; empty values come from the settings.

    `nice` is what the priority of the backup is lowered by, without that of the database. Once the
    backup is whole, those in its folder that are older than `keep_days` are deleted; 0 keeps all.
    """

    folder: Path | None
    recipients: Sequence[str]
    nice: int = 0
    keep_days: int = 0


class BackupMade(Struct, frozen=True):
    """A finished backup, and older ones that were deleted after it."""

    file: Path
    details: BackupDetails
    deleted: Sequence[Path] = ()


class RestoreOrder(Struct, frozen=True):
    """The backup that is restored; `replace` sets the database of the data directory aside."""

    file: Path
    identity: Path
    replace: bool = False


class RestoreReport(Struct, frozen=True):
    """The result of a restore; `lost` are acts since the backup that the second place knows.

    `already` is true where an earlier run had finished: then nothing was done.
    """

    details: BackupDetails
    already: bool = False
    set_aside: Path | None = None
    tokens_ended: int = 0
    members_notified: int = 0
    revoked_again: int = 0
    keys_dropped_again: int = 0
    lost: Sequence[Act] = ()


class RecoveryReport(Struct, frozen=True):
    """The work after a recovery by PostgreSQL's own means; all 0 if it was done before."""

    already: bool
    tokens_ended: int = 0
    members_notified: int = 0
    revoked_again: int = 0
    keys_dropped_again: int = 0
    lost: Sequence[Act] = ()
