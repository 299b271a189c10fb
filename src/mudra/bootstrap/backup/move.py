"""A database that was moved whole to another server (`mudra database moved`)."""

from pathlib import Path
from typing import Final

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain import CheckpointForged
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.proof.moved_whole import Compared, compared
from mudra.bootstrap.backup.place import UNFINISHED, alone, refuse_users
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import in_store
from mudra.bootstrap.node.serve import open_server, owner_of
from mudra.cli.local.checkpoints_option import collected
from mudra.cli.local.program import CommandFailed
from mudra.overview.restored_store import Contents, are_numbers_behind, keep_moved, look
from mudra.settings.settings import Settings

_COMPARING_S: Final = 300.0
"""Seconds to read the checkpoints of years."""
_RECOVERED: Final = "run mudra database recovered --to TIME"


def after_move(settings: Settings, caller: Caller, checkpoints: Path | None) -> bool:
    """Record that a database was moved whole; returns False where there is nothing to record.

    Raises CommandFailed where it can be seen that it was not, and while something else uses it.
    """
    with alone(settings), open_server(settings) as (found, _):
        contents = look(owner_of(settings, found))
        if contents.empty:
            raise CommandFailed("the database is empty: name the one that was moved")
        if not contents.unfinished:
            return False
        refuse_users(settings, contents)
        if not contents.may_be_moved:
            raise CommandFailed(
                "this database is a copy by a backup, or by a dump from before the end of its "
                f"last backup, and was not moved whole: {UNFINISHED}"
            )
        in_store(settings, lambda d: _record(d, contents, caller, checkpoints))
    return True


async def _record(
    dependencies: Dependencies, contents: Contents, caller: Caller, checkpoints: Path | None
) -> None:
    also = collected(dependencies, checkpoints)
    async with dependencies.database.transaction(within_s=_COMPARING_S) as transaction:
        if await are_numbers_behind(transaction):
            raise CommandFailed(
                "the sequences of the database were not moved: its audit has higher numbers than "
                "they gave out. Set every sequence to its value in the old place, then run this "
                "command again"
            )
        try:
            found = await compared(transaction.service(AuditChain), also)
        except CheckpointForged as error:
            raise CommandFailed(
                f"{error}: what was written in the old place is not known. If it is a file of the "
                f"second place of the audit, put a good copy in its place; else {_RECOVERED}"
            ) from error
        _refuse_contradicted(found, contents)
        entry = AuditEntry(
            EventName.DATABASE_PLACE_MOVE,
            caller,
            detail={"from": contents.came_from, "to": contents.cluster},
        )
        await AuditLog(transaction).append(entry)
        await keep_moved(transaction, contents.cluster)


def _refuse_contradicted(found: Compared, contents: Contents) -> None:
    """Raise CommandFailed where events are missing, or nothing vouches for a copy by a dump."""
    if found.beyond is not None:
        raise CommandFailed(
            f"the database was not moved whole: the checkpoint of "
            f"{found.beyond.at:%Y-%m-%dT%H:%M:%SZ} in the second place of the audit counts at "
            f"least {found.missing} events that it lacks. Move it again as the old place has it "
            f"now, or {_RECOVERED}"
        )
    if not found.vouched and not contents.same_files:
        raise CommandFailed(
            "nothing shows that the database was moved whole: the second place of the audit does "
            "not have its last checkpoints. Put that of the old place into the data directory or "
            "where MUDRA_AUDIT_CHECKPOINTS leads, name a collected system log by --checkpoints, "
            f"or {_RECOVERED}"
        )
