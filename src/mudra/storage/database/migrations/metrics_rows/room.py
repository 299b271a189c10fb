"""The room that the conversion needs, and whether the disk of the database has it."""

import shutil
from pathlib import Path
from typing import Final

import structlog

from mudra.storage.database.migrations.metrics_rows.sources import (
    CONVERTED,
    DAYS,
    Connection,
    parts_of,
)

_SHARE: Final = 1 / 3
"""Blocks take less of the size of their rows: measured were 3 to 20 %."""
_LEAST: Final = 64 << 20
_GB: Final = 1_000_000_000
_LOG: Final = "SELECT pg_size_bytes(current_setting('max_wal_size'))"
_log = structlog.get_logger()


def room_missing(connection: Connection, folder: Path | None) -> str | None:
    """Returns what keeps the metrics from being converted; None where there is room.

    `folder` is on the disk of the database; where it is not known, a line says what is needed.
    """
    needed = _needed(connection)
    if folder is None:
        if needed > 2 * _LEAST:
            _log.info(
                "the metrics are converted: the disk of the database needs room", **_gb(needed)
            )
        return None
    free = shutil.disk_usage(folder).free
    if free >= needed:
        return None
    return (
        f"the upgrade converts the metrics and needs {needed / _GB:.2f} GB on the disk of "
        f"{folder}, of which {free / _GB:.2f} GB are free: make room there and start again; "
        "nothing was changed"
    )


def _gb(size: int) -> dict[str, float]:
    return {"needed_gb": round(size / _GB, 2)}


def _needed(connection: Connection) -> int:
    """Returns the bytes of the blocks of what is not dropped at once, and of the log."""
    parts = {table: [part.size for part in parts_of(connection, table)] for table in CONVERTED}
    total = sum(map(sum, parts.values()))
    if not total:
        return 0
    largest = max((size for table in parts if table != DAYS for size in parts[table]), default=0)
    row = connection.execute(_LOG).fetchone()
    assert row is not None
    log = min(int(row[0]), round(_SHARE * total))
    return _LEAST + round(_SHARE * (sum(parts[DAYS]) + largest)) + log
