"""The checks of `mudra doctor` of backups, restores, standbys and replicas."""

import contextlib
from datetime import timedelta
from typing import Final

import psycopg
import sqlalchemy as sa

from mudra.bootstrap.backup.place import what_is_wrong
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.overview.administration import Diagnosis
from mudra.overview.restored_store import last_backup, look
from mudra.settings.settings import Settings
from mudra.storage.database.replica import IDENTITY
from mudra.storage.database.server.standbys import read_standbys

_LATE: Final = timedelta(hours=1)
"""What a backup may come later than it is due."""
_REPLAYED: Final = (
    "SELECT pg_is_in_recovery(), (%s::pg_lsn - pg_last_wal_replay_lsn())::bigint,"
    " extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp())::float"
)


async def backup(dependencies: Dependencies) -> Diagnosis:
    """A backup that is made every day has not stopped, or never begun where it is set up.

    Who makes none may have another way.
    """
    async with dependencies.database.transaction() as transaction:
        last = await last_backup(transaction)
    if last is None:
        if not dependencies.settings.backup_recipients:
            text = "mudra backup create has not been used yet"
            return Diagnosis("backup", passed=True, text=text)
        text = "none was made, though MUDRA_BACKUP_RECIPIENTS is set: run mudra backup create"
        return Diagnosis("backup", passed=False, text=text)
    age = ServiceClock()() - last
    text = f"the last one is {age.total_seconds() / 3600:.1f} hours old"
    if _is_next_to_database(dependencies.settings):
        text += ", and on the disk of the database: copy them to another one"
    passed = age <= timedelta(hours=dependencies.settings.backup_every_hours) + _LATE
    return Diagnosis("backup", passed, text if passed else f"{text}: run mudra backup create")


def _is_next_to_database(settings: Settings) -> bool:
    """Return whether backups are on a disk that the database is known to use."""
    of_database = [settings.data_dir] if settings.database_url is None else settings.watched_disks
    folder = settings.backup_dir
    with contextlib.suppress(OSError):
        return folder is not None and any(
            folder.stat().st_dev == one.stat().st_dev for one in of_database
        )
    return False


async def restore(dependencies: Dependencies) -> Diagnosis:
    """No restore was cut off before what must follow it: a node would refuse to start."""
    found = look(dependencies.database.conninfo)
    text = what_is_wrong(found) if found.unfinished else "none was cut off"
    return Diagnosis("restore", not found.unfinished, text)


async def standbys(dependencies: Dependencies) -> Diagnosis:
    """Checks that standbys keep up, and that one is there where commits wait for it."""
    found = read_standbys(dependencies.database.direct)
    faults = found.faults()
    return Diagnosis("standbys", not faults, "; ".join(faults) or found.text())


async def replica(dependencies: Dependencies) -> Diagnosis:
    """The replica follows, and is not farther behind than reads wait for it."""
    url = dependencies.settings.database_replica_url
    assert url is not None
    lag_ms = dependencies.settings.database_replica_lag_ms
    async with dependencies.database.transaction() as transaction:
        position, identity = (
            await transaction.connection.execute(
                sa.text(f"SELECT pg_current_wal_flush_lsn()::text, {IDENTITY}")
            )
        ).one()
    advice = "reads go to the primary meanwhile"
    try:
        with psycopg.connect(url.reveal(), connect_timeout=2) as connection:
            row = connection.execute(_REPLAYED, [position]).fetchone()
            theirs = connection.execute(f"SELECT {IDENTITY}".encode()).fetchone()
    except psycopg.Error:
        return Diagnosis("replica", passed=False, text=f"it cannot be reached: {advice}")
    assert row is not None
    if not row[0]:
        return Diagnosis("replica", passed=False, text=f"it is no standby: {advice}")
    if theirs != (identity,):
        text = f"it is another database's replica: {advice}"
        return Diagnosis("replica", passed=False, text=text)
    behind, seconds = max(0, int(row[1] or 0)), float(row[2] or 0)
    text = f"{behind:,} bytes behind, its last transaction is {seconds:.1f} s old"
    passed = behind == 0 or seconds <= lag_ms / 1000
    return Diagnosis("replica", passed, text if passed else f"{text}: {advice}")
