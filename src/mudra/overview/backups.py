"""What a backup is, and what a restore did: shapes that commands show."""

import enum
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec import Struct

from mudra.audit.acts import Act

OnProgress = Callable[[str, int, int], None]
"""Is given the step, and how many bytes of how many are done; 0 of 0 where no one knows."""


class Part(enum.StrEnum):
    """One of two databases, where the metrics are apart (decision 0119)."""

    FIRST = "first"
    METRICS = "metrics"


class BackupDetails(Struct, frozen=True, rename="camel"):
    """The description of a backup, which is kept next to it as JSON.

    `sha256` is that of the encrypted file, `dump_bytes` the size of what is in it.
    """

    backup_id: str
    made_at: datetime
    mudra: str
    schema: str
    database_bytes: int
    dump_bytes: int
    file_bytes: int
    sha256: str
    seconds: float
    metrics_included: bool = True
    """Not where they are in a second database."""
    metrics_only: bool = False
    """It is of the second database."""
    service: str = ""
    """The service whose metrics are apart; both databases name it."""

    @property
    def part(self) -> Part:
        """Return which database it is of."""
        return Part.METRICS if self.metrics_only else Part.FIRST


class BackupOrder(Struct, frozen=True):
    """Where a backup goes and who can decrypt it; empty values come from the settings.

    `only` leaves out the other database, where there are two. `nice` is what the priority of the
    backup is lowered by, without that of the database.
    """

    folder: Path | None
    recipients: Sequence[str]
    only: Part | None = None
    nice: int = 0


class BackupMade(Struct, frozen=True):
    """A finished backup of one database."""

    file: Path
    details: BackupDetails


class RestoreOrder(Struct, frozen=True):
    """Which backups are restored, of one database or of both; at most one of each.

    `replace` sets the database of the data directory aside.
    """

    files: Sequence[Path]
    identity: Path
    replace: bool = False


class MetricsAfter(enum.StrEnum):
    """Where the metrics are after a restore."""

    INCLUDED = "included"
    """In the first database, with the rest."""
    RESTORED = "restored"
    """In the second database, from its own backup."""
    KEPT = "kept"
    """In the second database, as they were."""
    EMPTY = "empty"
    AWAY = "away"
    FOREIGN = "foreign"


class RestoreReport(Struct, frozen=True):
    """What a restore did; `lost` are acts since the backup that the second place knows.

    `already` is true where an earlier run had finished: then nothing was done. `details` are those
    of the first database's backup, or of the only one.
    """

    details: BackupDetails
    already: bool = False
    metrics: MetricsAfter | None = None
    """None where nothing was done."""
    metrics_to: datetime | None = None
    """The moment that the restored metrics show."""
    set_aside: Path | None = None
    tokens_ended: int = 0
    members_notified: int = 0
    revoked_again: int = 0
    keys_dropped_again: int = 0
    lost: Sequence[Act] = ()


class RecoveryReport(Struct, frozen=True):
    """What was done after a recovery by PostgreSQL's own means; all 0 where it was done before."""

    already: bool
    tokens_ended: int = 0
    members_notified: int = 0
    revoked_again: int = 0
    keys_dropped_again: int = 0
    lost: Sequence[Act] = ()
