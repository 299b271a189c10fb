"""Brings every encrypted value under the active master key (`mudra keys rewrap`)."""

from collections.abc import Callable

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.overview.administration import Rewrapped
from mudra.storage.crypto.keyring import Keyring
from mudra.storage.crypto.sealed_values import COLUMNS, count_values, rewrap
from mudra.storage.database.database import Database


async def rewrap_all(
    database: Database,
    keyring: Keyring,
    caller: Caller,
    begin: Callable[[int], None],
    on_progress: Callable[[int], None],
) -> Rewrapped:
    """Wrap what is under another version, until nothing is; recorded when anything was done.

    `begin` is given how many values there are, `on_progress` how many more were seen. What a node
    that still has the previous key active writes meanwhile is done in a further pass.
    """
    done = 0
    async with database.transaction() as transaction:
        begin(await count_values(transaction))
    while changed := await _one_pass(database, keyring, on_progress):
        done += changed
        on_progress = _nothing
    if done:
        async with database.transaction() as transaction:
            await AuditLog(transaction).append(
                AuditEntry(
                    EventName.KEYS_MASTER_ROTATE,
                    caller,
                    detail={"version": keyring.active, "count": done},
                )
            )
    return Rewrapped(keyring.active, done)


async def _one_pass(
    database: Database, keyring: Keyring, on_progress: Callable[[int], None]
) -> int:
    return sum(
        [await rewrap(database.transaction, keyring, sealed, on_progress) for sealed in COLUMNS]
    )


def _nothing(_: int) -> None:
    """The first pass has shown all of the progress."""
