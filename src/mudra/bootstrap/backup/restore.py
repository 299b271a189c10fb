"""Restores a backup, and does what a rollback needs (`mudra restore`)."""

import contextlib
import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Final

from mudra.audit.acts import Act
from mudra.audit.event import Caller
from mudra.audit.lost_acts import lost_acts
from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.config import Settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import in_store
from mudra.bootstrap.node.node_lock import only_node
from mudra.bootstrap.node.serve import open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.identity.memberships.notices import NoticeService
from mudra.overview.backups import (
    BackupDetails,
    OnProgress,
    RecoveryReport,
    RestoreOrder,
    RestoreReport,
)
from mudra.overview.rollback import Origin, RolledBack, roll_back
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.backup.archive import Measured, check_file, read_details
from mudra.storage.backup.encryption import decrypt, read_identity
from mudra.storage.backup.postgres_dump import restoring
from mudra.storage.backup.restored_store import Contents, PostgresRestoredStore, look
from mudra.storage.crypto.master_key import load_master_keys
from mudra.storage.database.embedded import locks
from mudra.storage.database.embedded.postgres_supervisor import CLUSTER
from mudra.storage.identity.memberships import PostgresMemberships

_ROLLBACK_S: Final = 600.0
"""Seconds for the emails to all members of a network, in one transaction."""


def check_backup(order: RestoreOrder, on_progress: OnProgress) -> BackupDetails:
    """Read a backup to its end and compare it with its description; nothing is restored.

    Raises BackupDamaged, BackupKeyInvalid, BackupUnreadable.
    """
    identity = read_identity(order.identity)
    details = read_details(order.file)
    size = details.file_bytes
    check_file(order.file, details, lambda done: on_progress("checking", done, size))
    with order.file.open("rb") as file, Path(os.devnull).open("wb") as nowhere:
        plain = Measured(nowhere, lambda n: on_progress("decrypting", n, details.dump_bytes))
        decrypt(file, plain, identity)
    return details


def restore(
    settings: Settings, order: RestoreOrder, caller: Caller, on_progress: OnProgress
) -> RestoreReport:
    """Restore a backup whole or not at all, then end what a rollback must end.

    Run again after it was cut off, it goes on; after it was finished, it does nothing.
    Raises CommandFailed when something uses the place, or it holds other data; BackupDamaged,
    BackupKeyInvalid, BackupUnreadable, DumpFailed, MasterKeyError.
    """
    identity = read_identity(order.identity)
    details = read_details(order.file)
    size = details.file_bytes
    if not details.metrics_included and settings.metrics_database_url is None:
        # Refused here: later, the dump would be in place and its rollback not done.
        raise CommandFailed(
            "the metrics of this service are in a second database, which is not in this backup: "
            "restore that one, and name it in MUDRA_METRICS_DATABASE_URL"
        )
    check_file(order.file, details, lambda done: on_progress("checking", done, size))
    # Asked for before anything is changed: the backup does not hold it.
    load_master_keys(os.environ, settings.data_dir, create=False, database_is_sealed=True)
    with _alone(settings) as set_aside:
        aside = set_aside() if order.replace else None
        with open_server(settings) as (found, _):
            owner = owner_of(settings, found)
            contents = look(owner)
            _refuse_what_is_used(settings, contents, details)
            if contents.finished == details.backup_id and contents.restored_from:
                return RestoreReport(details, already=True)
            if contents.empty:
                with order.file.open("rb") as file, restoring(owner) as stream:
                    plain = Measured(
                        stream, lambda n: on_progress("restoring", n, details.dump_bytes)
                    )
                    decrypt(file, plain, identity)
            done, lost = in_store(
                settings,
                lambda d: _roll_back(d, Origin(details.backup_id, details.made_at), caller),
            )
    return RestoreReport(
        details,
        set_aside=aside,
        tokens_ended=done.tokens_ended,
        members_notified=done.members_notified,
        revoked_again=done.revoked_again,
        lost=lost,
    )


def after_recovery(settings: Settings, at: datetime, caller: Caller) -> RecoveryReport:
    """End what a rollback must end in a database that was recovered to a point in time.

    Does nothing when it was done before in this cluster, on this timeline. Raises CommandFailed
    while something else uses the database.
    """
    with _alone(settings), open_server(settings) as (found, _):
        owner = owner_of(settings, found)
        contents = look(owner)
        if contents.empty:
            raise CommandFailed("the database is empty: recover it first")
        if settings.database_url is not None and contents.users:
            raise CommandFailed(
                f"{contents.users} other sessions use the database of MUDRA_DATABASE_URL: stop "
                "every node and program that is connected to it"
            )
        recovery = f"recovered {contents.cluster}"
        if contents.finished == recovery:
            return RecoveryReport(already=True)
        done, lost = in_store(settings, lambda d: _roll_back(d, Origin(recovery, at), caller))
    return RecoveryReport(
        already=False,
        tokens_ended=done.tokens_ended,
        members_notified=done.members_notified,
        revoked_again=done.revoked_again,
        lost=lost,
    )


async def _roll_back(
    dependencies: Dependencies, origin: Origin, caller: Caller
) -> tuple[RolledBack, list[Act]]:
    async with dependencies.database.transaction(within_s=_ROLLBACK_S) as transaction:
        lost = list(await lost_acts(dependencies.audit_chain(transaction)))
        outbox = dependencies.outbox(transaction)
        done = await roll_back(
            PostgresRestoredStore(transaction),
            NoticeService(PostgresMemberships(transaction), outbox),
            PostgresAuditLog(transaction),
            origin=origin,
            lost=lost,
            caller=caller,
            now=await transaction.now(),
        )
    return done, lost


def _refuse_what_is_used(settings: Settings, contents: Contents, details: BackupDetails) -> None:
    """Raise CommandFailed unless the database is empty, or a copy of this very backup."""
    own = settings.database_url is not None
    if own and contents.users:
        raise CommandFailed(
            f"{contents.users} other sessions use the database of MUDRA_DATABASE_URL: stop every "
            "node and program that is connected to it, or name a new, empty database"
        )
    if contents.empty or contents.restored_from == details.backup_id:
        return
    way_out = (
        "make a new, empty database and name it in MUDRA_DATABASE_URL and MUDRA_DATABASE_OWNER_URL"
        if own
        else "name another directory by --data-dir, or set its database aside by --replace"
    )
    place = (
        "the database of MUDRA_DATABASE_URL" if own else f"the data directory {settings.data_dir}"
    )
    raise CommandFailed(f"{place} holds a database already: {way_out}")


@contextlib.contextmanager
def _alone(settings: Settings) -> Iterator[Callable[[], Path | None]]:
    """Keep nodes and commands from the data directory; gives what sets its database aside.

    Raises AlreadyServed, which names the node's process, and CommandFailed.
    """
    if settings.database_url is not None:
        yield _no_setting_aside
        return
    with only_node(settings.data_dir):
        if locks.is_held(settings.data_dir, locks.HOLDERS):
            raise CommandFailed(
                f"a command of mudra uses the data directory {settings.data_dir}: wait for its end"
            )
        yield lambda: _set_aside(settings.data_dir)


def _no_setting_aside() -> Path | None:
    raise CommandFailed(
        "--replace is for the embedded database: make a new, empty database in PostgreSQL and "
        "name it in MUDRA_DATABASE_URL"
    )


def _set_aside(data_dir: Path) -> Path | None:
    """Rename the cluster, so that a restore that was a mistake can be undone by hand."""
    cluster = data_dir / CLUSTER
    if not cluster.exists():
        return None
    with locks.alone(data_dir):
        if locks.is_held(data_dir, locks.ALIVE):
            raise CommandFailed(f"PostgreSQL still runs on {cluster}: wait for its end")
        aside = data_dir / f"{CLUSTER}.before-{ServiceClock()():%Y%m%dT%H%M%SZ}"
        cluster.rename(aside)
    return aside
