"""The checks of `mudra doctor` of backups and standbys, of each database."""

from datetime import timedelta
from typing import Final

from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.overview.administration import Diagnosis
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.backup.restored_store import last_backup
from mudra.storage.database.database import Database
from mudra.storage.database.standbys import read_standbys

_MAX_BACKUP_AGE: Final = timedelta(hours=26)


async def backup(dependencies: Dependencies) -> Diagnosis:
    """A backup that is made every day has not stopped; who makes none may have another way."""
    return await _backup("backup", dependencies.database, "mudra backup create")


async def standbys(dependencies: Dependencies) -> Diagnosis:
    """Those that follow keep up, and one is there where commits wait for it."""
    return _standbys("standbys", dependencies.database)


async def metrics_backup(dependencies: Dependencies) -> Diagnosis:
    """The same of the second database; one that does not answer has a check of its own."""
    own = _second(dependencies)
    try:
        return await _backup("metrics backup", own, "mudra backup create --only metrics")
    except DatabaseUnavailable as outage:
        return Diagnosis("metrics backup", passed=False, text=outage.sentence)


async def metrics_standbys(dependencies: Dependencies) -> Diagnosis:
    """The same of the second database."""
    own = _second(dependencies)
    if outage := await own.outage():
        return Diagnosis("metrics standbys", passed=False, text=outage.sentence)
    return _standbys("metrics standbys", own)


def _second(dependencies: Dependencies) -> Database:
    own = dependencies.metrics.own
    assert own is not None, "there is one"
    return own


async def _backup(name: str, database: Database, command: str) -> Diagnosis:
    async with database.transaction() as transaction:
        last = await last_backup(transaction)
    if last is None:
        return Diagnosis(name, passed=True, text=f"{command} has not been used yet")
    age = ServiceClock()() - last
    text = f"the last one is {age.total_seconds() / 3600:.1f} hours old"
    passed = age <= _MAX_BACKUP_AGE
    return Diagnosis(name, passed, text if passed else f"{text}: run {command}")


def _standbys(name: str, database: Database) -> Diagnosis:
    found = read_standbys(database.direct)
    faults = found.faults()
    return Diagnosis(name, not faults, "; ".join(faults) or found.text())
