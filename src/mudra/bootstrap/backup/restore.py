"""Restores backups, and does what follows a restore (`mudra restore`)."""

import os
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.bootstrap.backup.place import alone, refuse_other_data, refuse_users
from mudra.bootstrap.backup.recovery import rolled_back
from mudra.bootstrap.config import Settings
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import in_first
from mudra.bootstrap.metrics_database import pair_what_is_there
from mudra.bootstrap.node.serve import metrics_address, open_server, owner_of
from mudra.cli.local.program import CommandFailed
from mudra.overview.backups import (
    BackupDetails,
    MetricsAfter,
    OnProgress,
    Part,
    RestoreOrder,
    RestoreReport,
)
from mudra.overview.rollback import Origin
from mudra.shared.time_text import iso_ms
from mudra.storage.audit.audit_log import PostgresAuditLog
from mudra.storage.backup.archive import Measured, check_file, read_details
from mudra.storage.backup.encryption import Identity, decrypt, read_identity
from mudra.storage.backup.postgres_dump import restoring
from mudra.storage.backup.restored_store import Contents, clear, look, metrics_restored
from mudra.storage.crypto.master_key import load_master_keys
from mudra.storage.metrics.apart.pairing import (
    pairing_of,
    reaching,
    require_two,
    service_of,
)


class _Backup(Struct, frozen=True):
    file: Path
    details: BackupDetails

    def step(self, doing: str) -> str:
        """Name a step of progress, apart from that of the other backup."""
        return f"{doing} metrics" if self.details.metrics_only else doing


class _Chosen(Struct, frozen=True):
    """The backups of a restore: of the first database, of the second one, or of both."""

    first: _Backup | None
    metrics: _Backup | None

    @property
    def all(self) -> list[_Backup]:
        return [one for one in (self.first, self.metrics) if one is not None]


class _Places(Struct, frozen=True):
    """The addresses of both databases, for their owners, and what they held at the beginning."""

    first: str
    before: Contents
    second: str = ""
    metrics_before: Contents | None = None


class _Reading(Struct, frozen=True):
    identity: Identity
    on_progress: OnProgress


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
    """Restore each backup whole or not at all, then do what must follow.

    Run again after it was cut off, it goes on; after it was finished, it does nothing.
    Raises CommandFailed when something uses a place, or it holds other data; BackupDamaged,
    BackupKeyInvalid, BackupUnreadable, DumpFailed, MasterKeyError, MetricsMisplaced,
    MetricsUnreachable.
    """
    reading = _Reading(read_identity(order.identity), on_progress)
    chosen = _chosen(order.files)
    _refuse_what_does_not_fit(settings, chosen, order)
    for one in chosen.all:
        _check(one, on_progress)
    # Asked for before anything is changed: the backup does not hold it.
    load_master_keys(os.environ, settings.data_dir, create=False, database_is_sealed=True)
    with alone(settings) as set_aside:
        # The second database first: nothing is set aside for a restore that is refused.
        metrics_before = _second(settings, chosen.metrics) if chosen.metrics else None
        aside = set_aside() if order.replace else None
        with open_server(settings) as (found, _):
            places = _places(settings, chosen, owner_of(settings, found), metrics_before)
            if _is_done(chosen, places):
                return RestoreReport(chosen.all[0].details, already=True)
            _fill(chosen, places, reading)
            return _finish(settings, chosen, places, caller, aside)


def _chosen(files: Sequence[Path]) -> _Chosen:
    found: dict[Part, _Backup] = {}
    for file in files:
        details = read_details(file)
        if details.part in found:
            raise CommandFailed(
                f"{found[details.part].file} and {file} are backups of the same database: name "
                "one of each at most"
            )
        found[details.part] = _Backup(file, details)
    return _Chosen(found.get(Part.FIRST), found.get(Part.METRICS))


def _refuse_what_does_not_fit(settings: Settings, chosen: _Chosen, order: RestoreOrder) -> None:
    """Raise CommandFailed for files and settings that contradict each other."""
    first, metrics = chosen.first, chosen.metrics
    if metrics is None and first is not None and first.details.metrics_included:
        return
    if settings.metrics_database_url is None:
        # Refused here: later, the dump would be in place and its rollback not done.
        raise CommandFailed(
            "the metrics of this service are in a second database: name it in "
            "MUDRA_METRICS_DATABASE_URL, also when it is away or empty"
        )
    if first is None and order.replace:
        raise CommandFailed(
            "--replace is for the first database: make a new, empty one for the metrics and name "
            "it in MUDRA_METRICS_DATABASE_URL"
        )
    if first is not None and metrics is not None:
        if first.details.metrics_included:
            raise CommandFailed(f"{first.file} has its metrics in it: restore it alone")
        if first.details.service not in {"", metrics.details.service}:
            raise CommandFailed(f"{first.file} and {metrics.file} are of different services")


def _check(backup: _Backup, on_progress: OnProgress) -> None:
    size, step = backup.details.file_bytes, backup.step("checking")
    check_file(backup.file, backup.details, lambda done: on_progress(step, done, size))


def _second(settings: Settings, backup: _Backup) -> Contents:
    """Look at the second database; raises CommandFailed when it is used or holds other data."""
    with reaching():
        found = look(_second_address(settings))
    refuse_users("MUDRA_METRICS_DATABASE_URL", found)
    refuse_other_data(settings, found, backup.details)
    return found


def _second_address(settings: Settings) -> str:
    address = metrics_address(settings, owner=True)
    assert address is not None, "asked for before"
    return address


def _places(
    settings: Settings, chosen: _Chosen, first: str, metrics_before: Contents | None
) -> _Places:
    """Look at the first database; raises CommandFailed when it is used, or is another's."""
    before = look(first)
    if settings.database_url is not None:
        refuse_users("MUDRA_DATABASE_URL", before)
    if chosen.first is not None:
        refuse_other_data(settings, before, chosen.first.details)
    if chosen.metrics is None:
        return _Places(first, before)
    if chosen.first is None:
        _refuse_another_first(before, first, chosen.metrics.details)
    second = _second_address(settings)
    require_two(first, second)
    return _Places(first, before, second, metrics_before)


def _refuse_another_first(before: Contents, first: str, details: BackupDetails) -> None:
    """Raise CommandFailed unless the first database is there, and these are its metrics."""
    if before.empty:
        raise CommandFailed(
            "the first database is empty: restore its backup too, in the same command"
        )
    if not before.cluster or service_of(pairing_of(first)) != details.service:
        raise CommandFailed(
            "this backup has the metrics of another service than the first database: check "
            "MUDRA_DATABASE_URL or --data-dir, and the file"
        )


def _is_done(chosen: _Chosen, places: _Places) -> bool:
    """Return whether an earlier run had come to its end."""
    first, second = places.before, places.metrics_before
    if chosen.first is not None and (
        first.finished != chosen.first.details.backup_id or not first.restored_from
    ):
        return False
    return second is None or (not second.empty and first.second == second.copy)


def _fill(chosen: _Chosen, places: _Places, reading: _Reading) -> None:
    """Restore the dumps into what is empty; the rest are copies of them."""
    if chosen.first is not None and places.before.empty:
        _load(chosen.first, places.first, reading)
    if chosen.metrics is not None:
        assert places.metrics_before is not None
        if places.metrics_before.empty:
            _load(chosen.metrics, places.second, reading)


def _load(backup: _Backup, into: str, reading: _Reading) -> None:
    clear(into)  # of the tables that `mudra database prepare` or a start made
    size, step = backup.details.dump_bytes, backup.step("restoring")
    with backup.file.open("rb") as file, restoring(into) as stream:
        plain = Measured(stream, lambda done: reading.on_progress(step, done, size))
        decrypt(file, plain, reading.identity)
    if not look(into).is_copy_of(backup.details):
        raise CommandFailed(
            f"{backup.file} is another backup than the description next to it says: name the file "
            "with its own description, and an empty database"
        )


def _finish(
    settings: Settings, chosen: _Chosen, places: _Places, caller: Caller, aside: Path | None
) -> RestoreReport:
    """Pair the databases, end what a rollback must end, record it; the record comes last."""
    after = pair_what_is_there(settings, places.first)
    report = RestoreReport(chosen.all[0].details, metrics=after, set_aside=aside)
    if chosen.first is not None and places.before.finished != chosen.first.details.backup_id:
        details = chosen.first.details
        done, lost = rolled_back(settings, Origin(details.backup_id, details.made_at), caller)
        report = RestoreReport(
            details,
            metrics=after,
            set_aside=aside,
            tokens_ended=done.tokens_ended,
            members_notified=done.members_notified,
            revoked_again=done.revoked_again,
            keys_dropped_again=done.keys_dropped_again,
            lost=lost,
        )
    if chosen.metrics is not None:
        report = _replaced(report, chosen.metrics.details)
        _record_metrics(settings, chosen.metrics.details, look(places.second).copy, caller)
    return report


def _replaced(report: RestoreReport, details: BackupDetails) -> RestoreReport:
    """Say that the metrics are restored, too."""
    return RestoreReport(
        report.details,
        metrics=MetricsAfter.RESTORED,
        metrics_to=details.made_at,
        set_aside=report.set_aside,
        tokens_ended=report.tokens_ended,
        members_notified=report.members_notified,
        revoked_again=report.revoked_again,
        keys_dropped_again=report.keys_dropped_again,
        lost=report.lost,
    )


def _record_metrics(settings: Settings, details: BackupDetails, copy: str, caller: Caller) -> None:
    """Record in audit and first database that the second one is this copy."""

    async def record(dependencies: Dependencies) -> None:
        entry = AuditEntry(
            EventName.DATABASE_BACKUP_RESTORE,
            caller,
            detail={
                "backup": details.backup_id,
                "made": iso_ms(details.made_at),
                "database": Part.METRICS.value,
            },
        )
        async with dependencies.database.transaction() as transaction:
            await PostgresAuditLog(transaction).append(entry)
            await metrics_restored(transaction, copy)

    in_first(settings, record)
