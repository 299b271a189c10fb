"""Jobs by which a node notices what an operator must know: each sets metrics for alerts."""

import asyncio
import contextlib
import os
import shutil
import sys
from collections import deque
from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from math import nan
from pathlib import Path
from time import monotonic
from typing import Final

from mudra.audit.chain_store import VERIFIED, last_verification
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.diagnosis.certificates import days_left
from mudra.bootstrap.node.node_state import NodeState
from mudra.bootstrap.watching.readiness_board import ReadinessBoard
from mudra.jobs.scheduler import Job
from mudra.jobs.telemetry import (
    AUDIT_VERIFIED,
    AUDIT_VERIFY_FAILED,
    BACKUP_AGE,
    BACKUP_EVERY,
    CERTIFICATE_DAYS,
    CONNECTIONS,
    CONNECTIONS_ALLOWED,
    DISK_FREE,
    SECRETS_ENDING,
    SIGNING_KEY_LATE,
    STANDBY_BEHIND,
    STANDBY_BEHIND_S,
    STANDBY_FAULTS,
    STANDBYS,
)
from mudra.overview.restored_store import backup_awaited_since, last_backup
from mudra.settings.settings import Settings
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.database.server.standbys import ServerState, read_server_state
from mudra.tokens.claims import TokenKind
from mudra.tokens.secrets.secret_store import secrets_ending_before
from mudra.tokens.signing_keys.key_lifecycle import signing
from mudra.tokens.signing_keys.signing_key_store import SigningKeys

_KEPT: Final = 360
"""Positions: two hours, where one is read every 20 seconds."""
STATES: Final = ("active", "idle", "idle in transaction", "other")


class StandbyWatch:
    """Remembers when the primary's log had which length, so that a lack of it has an age.

    PostgreSQL shows the lag itself to a role with rights of monitoring alone.
    """

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._positions: deque[tuple[float, int]] = deque(maxlen=_KEPT)

    async def note(self) -> None:
        """Set the metrics; raises psycopg.Error when the database does not answer."""
        found = await asyncio.to_thread(read_server_state, self._conninfo)
        now = monotonic()
        self._positions.append((now, found.position))
        standbys = found.standbys
        STANDBYS.set(standbys.following)
        STANDBY_BEHIND.set(max((slot.behind for slot in standbys.slots), default=0))
        STANDBY_BEHIND_S.set(
            max(
                (self._age(found.position - slot.behind, now) for slot in standbys.slots), default=0
            )
        )
        STANDBY_FAULTS.set(len(standbys.faults()))
        _note_connections(found)

    def _age(self, reached: int, now: float) -> float:
        """Return for how long the log has been longer than what a standby has reached."""
        longer = [at for at, position in self._positions if position > reached]
        return now - longer[0] if longer else 0.0


def _note_connections(found: ServerState) -> None:
    CONNECTIONS_ALLOWED.set(found.allowed)
    counts = dict.fromkeys(STATES, 0)
    for state, number in found.connections.items():
        counts[state if state in counts else "other"] += number
    for state, number in counts.items():
        CONNECTIONS.labels(state.replace(" ", "-")).set(number)


_SOON: Final = timedelta(days=7)
"""A member's secret that ends within it must be reset now; its admins got five emails."""
_JOURNAL: Final = (Path("/var/log/journal"), Path("/run/log/journal"))
_HOUR_S: Final = 3600


def watch_jobs(dependencies: Dependencies, board: ReadinessBoard) -> list[Job]:
    """Return the jobs, which every node runs for itself: a metric of another node may be lost."""
    node = NodeState(
        dependencies.database, dependencies.clock_watch, dependencies.encryption.keyring
    )
    began = ServiceClock()()

    async def note_readiness() -> None:
        board.write(await node.readiness())

    minute = timedelta(minutes=1)
    of_standbys = StandbyWatch(dependencies.database.direct)
    verified = partial(_note_verification, dependencies, began)
    jobs = (
        ("readiness", minute / 6, note_readiness),
        ("standbys", minute / 3, of_standbys.note),
        ("room", minute / 3, partial(_note_room, dependencies.settings)),
        ("backup-age", minute, partial(_note_backup_age, dependencies)),
        ("ends", 10 * minute, partial(_note_ends, dependencies)),
        ("certificates", 60 * minute, partial(_note_certificates, dependencies.settings)),
    )
    return [
        *(
            Job(name=name, every=every, run=run, on_every_node=True, follows_clock=name == "ends")
            for name, every, run in jobs
        ),
        Job(
            name="audit-verified", every=minute, run=verified, on_every_node=True, wake_on=VERIFIED
        ),
    ]


async def _note_room(settings: Settings) -> None:
    for name, place in watched_places(settings).items():
        try:
            free = float(shutil.disk_usage(place).free)
        except OSError:
            free = nan  # not mounted now: what it had before would look like room
        DISK_FREE.labels(name).set(free)


def watched_places(settings: Settings) -> Mapping[str, Path]:
    """Return each place whose disk is watched, by the name that its metric has."""
    found = {"data": settings.data_dir}
    if (log := _place_of_log()) is not None:
        found["log"] = log
    if settings.backup_dir is not None:
        found["backup"] = settings.backup_dir
    return found | {str(one): one for one in settings.watched_disks}


def _place_of_log() -> Path | None:
    """Return where what this process writes to standard error is kept, as far as it can be seen."""
    if "JOURNAL_STREAM" in os.environ:
        return next((one for one in _JOURNAL if one.is_dir()), None)
    with contextlib.suppress(OSError, ValueError):
        file = Path(f"/proc/self/fd/{sys.stderr.fileno()}").readlink()
        return file.parent if file.is_file() else None
    return None


async def _note_backup_age(dependencies: Dependencies) -> None:
    """Show the age of the last backup; while the database is away it is unknown.

    A first backup that never came is as old as the setting that says who can decrypt it.
    """
    BACKUP_EVERY.set(dependencies.settings.backup_every_hours * _HOUR_S)
    with contextlib.suppress(DatabaseUnavailable):
        async with dependencies.database.transaction() as transaction:
            at = await last_backup(transaction)
            if at is None and dependencies.settings.backup_recipients:
                at = await backup_awaited_since(transaction)
        if at is not None:
            BACKUP_AGE.set((ServiceClock()() - at).total_seconds())


async def _note_verification(dependencies: Dependencies, began: datetime) -> None:
    async with dependencies.database.transaction() as transaction:
        found = await last_verification(transaction)
    AUDIT_VERIFIED.set((found.intact_at or began).timestamp())
    AUDIT_VERIFY_FAILED.set(int(found.failed))


async def _note_ends(dependencies: Dependencies) -> None:
    """Show which keys should have a successor by now, and how many secrets end soon."""
    rotation = timedelta(days=dependencies.settings.key_rotation_days)
    async with dependencies.database.transaction() as transaction:
        now = await transaction.now()
        keys = await SigningKeys(transaction).all_keys()
        SECRETS_ENDING.set(await secrets_ending_before(transaction, now + _SOON))
    begun = [
        key.active_from
        for kind in TokenKind
        if (key := signing(keys, kind, now)) is not None and key.active_from is not None
    ]
    late = max((now - at - rotation for at in begun), default=timedelta())
    SIGNING_KEY_LATE.set(max(0.0, late.total_seconds()))


async def _note_certificates(settings: Settings) -> None:
    for server, days in (await asyncio.to_thread(days_left, settings)).items():
        CERTIFICATE_DAYS.labels(server).set(nan if days is None else days)
