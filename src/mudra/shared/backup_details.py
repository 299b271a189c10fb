"""The description of a backup."""

from datetime import datetime

from msgspec import Struct


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
