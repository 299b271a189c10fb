"""The place of a restore: who uses it, what is there already, and whether it is whole."""

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from mudra.bootstrap.clock import ServiceClock
from mudra.bootstrap.node.node_lock import only_node
from mudra.cli.local.program import CommandFailed
from mudra.overview.restored_store import Contents
from mudra.settings.settings import Settings
from mudra.shared.backup_details import BackupDetails
from mudra.storage.database.embedded import locks
from mudra.storage.database.embedded.cluster import CLUSTER, Cluster

UNFINISHED: Final = (
    "a restore of this database was not finished: run mudra restore again, or mudra database "
    "recovered --to TIME"
)
"""What ended since the backup is valid in it again."""
FROM_ELSEWHERE: Final = (
    "this database came here from another server: if it was moved whole, as by pg_upgrade, and "
    "nothing was written in the old place since, run mudra database moved --nothing-since; after "
    "any other copy run mudra restore again, or mudra database recovered --to TIME"
)
"""Only who moved it knows which of the two it is."""
_IN_USE: Final = "a command of mudra uses the data directory {}: wait for its end"


def refuse_unfinished(contents: Contents) -> None:
    """Raise CommandFailed for a database whose restore was cut off before its rollback."""
    if contents.unfinished:
        raise CommandFailed(what_is_wrong(contents))


def what_is_wrong(contents: Contents) -> str:
    """Name the ways out of a copy of which nothing that must follow it was done."""
    return FROM_ELSEWHERE if contents.may_be_moved else UNFINISHED


def refuse_users(settings: Settings, contents: Contents) -> None:
    """Raise CommandFailed while other sessions use the database that a setting names."""
    if contents.users and settings.database_url is not None:
        raise CommandFailed(
            f"{contents.users} other sessions use the database of MUDRA_DATABASE_URL: stop every "
            "node and program that is connected to it, or name a new, empty database"
        )


def refuse_other_data(settings: Settings, contents: Contents, details: BackupDetails) -> None:
    """Raise CommandFailed unless the place is empty, or holds a copy of this very backup."""
    if contents.empty or contents.is_copy_of(details):
        return
    if settings.database_url is not None:
        place = "the database of MUDRA_DATABASE_URL"
        way_out = (
            "make a new, empty database and name it in MUDRA_DATABASE_URL and "
            "MUDRA_DATABASE_OWNER_URL"
        )
    else:
        place = f"the data directory {settings.data_dir}"
        way_out = "name another directory by --data-dir, or set its database aside by --replace"
    raise CommandFailed(f"{place} holds a database already: {way_out}")


@contextlib.contextmanager
def alone(settings: Settings) -> Iterator[Callable[[], Path | None]]:
    """Keep nodes and commands from the data directory; gives what sets its database aside.

    Raises AlreadyServed, which names the node's process, and CommandFailed.
    """
    if settings.database_url is not None:
        yield _no_setting_aside
        return
    with only_node(settings.data_dir):
        if locks.is_held(settings.data_dir, locks.HOLDERS):
            raise CommandFailed(_IN_USE.format(settings.data_dir))
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
    holding = locks.try_take(data_dir, locks.HOLDERS)
    if holding is None:
        raise CommandFailed(_IN_USE.format(data_dir))
    try:
        Cluster(data_dir).stop()  # where that which started it was killed
        if locks.is_held(data_dir, locks.ALIVE):
            raise CommandFailed(f"PostgreSQL still runs on {cluster}: wait for its end")
        aside = data_dir / f"{CLUSTER}.before-{ServiceClock()():%Y%m%dT%H%M%SZ}"
        cluster.rename(aside)
    finally:
        os.close(holding)
    return aside
