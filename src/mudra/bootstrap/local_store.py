"""Opens data directory and database for one command, and explains what keeps them closed."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

import psycopg
import structlog
from sqlalchemy.exc import DBAPIError

from mudra.bootstrap.data_directory import DataDirectoryUnusable
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.node.cannot_listen import CannotListen
from mudra.bootstrap.node.serve import open_store
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit
from mudra.localization.catalogue import CatalogueError
from mudra.mail.compose import TemplateError
from mudra.mail.mail_server import MailUrlError
from mudra.settings.settings import Settings
from mudra.shared.unavailable import DatabaseUnavailable, Outage
from mudra.storage.backup.archive import BackupDamaged
from mudra.storage.backup.encryption import BackupKeyInvalid, BackupUnreadable
from mudra.storage.backup.postgres_dump import DumpFailed
from mudra.storage.crypto.keyring import CiphertextInvalid, MasterVersionMissing
from mudra.storage.crypto.master_key import MasterKeyError
from mudra.storage.database.embedded.programs import EmbeddedServerError
from mudra.storage.database.outage import outage_of
from mudra.storage.database.schema.migrate import SchemaBusy, SchemaNeedsMore, SchemaUnknown
from mudra.storage.database.schema.roles import AdminTooWeak

T = TypeVar("T")

_NO_RESPONSE: Final = (
    "the database did not answer: check MUDRA_DATABASE_URL, or MUDRA_DATA_DIR and the service"
)
_NO_RIGHT: Final = (
    "the database's user may not do what Mudra needs: run mudra database prepare, set "
    "MUDRA_DATABASE_OWNER_URL, or let the user own the schema (ALTER SCHEMA public OWNER TO …)"
)
_NO_ADDRESS: Final = (
    "MUDRA_DATABASE_URL cannot be read: write postgresql://user:password@host/database"
)
_TO_PRIMARY: Final = "let MUDRA_DATABASE_URL lead to the primary, or make it writable"
_WAYS_OUT: Final = {
    Outage.READ_ONLY: _TO_PRIMARY,
    Outage.STANDBY: _TO_PRIMARY,
    Outage.DISK_FULL: "make room there",
    Outage.CONNECTION_LIMIT: "raise max_connections or the limit of the role, or end sessions",
    Outage.SIGN_IN_REFUSED: "check user and password in MUDRA_DATABASE_URL, and pg_hba.conf",
}


@contextlib.contextmanager
def opening() -> Iterator[None]:
    """Raise CommandFailed for what may be wrong with data directory, database and settings.

    What is logged meanwhile, such as the progress of an upgrade, goes to standard error.
    """
    if isinstance(structlog.get_config()["logger_factory"], structlog.PrintLoggerFactory):
        # It writes to standard output, which belongs to the command's own, which may be JSON.
        structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    try:
        yield
    except (
        BackupDamaged,
        BackupKeyInvalid,
        BackupUnreadable,
        CannotListen,
        CatalogueError,
        DataDirectoryUnusable,
        DumpFailed,
        EmbeddedServerError,
        MailUrlError,
        MasterKeyError,
        SchemaBusy,
        SchemaNeedsMore,
        SchemaUnknown,
        TemplateError,
    ) as error:
        raise CommandFailed(str(error)) from error
    except AdminTooWeak as error:
        raise CommandFailed(
            "MUDRA_DATABASE_ADMIN_URL must name a superuser: it makes the roles and gives the "
            "database to its owner"
        ) from error
    except (CiphertextInvalid, MasterVersionMissing) as error:
        raise CommandFailed(f"{error}: is this the master key of this database?") from error
    except DatabaseUnavailable as error:
        raise CommandFailed(_way_out(error), Exit.UNREACHABLE) from error
    except (psycopg.Error, DBAPIError) as error:
        failed = _of_driver(error)
        if failed is None:
            raise
        raise failed from error


def _of_driver(error: psycopg.Error | DBAPIError) -> CommandFailed | None:
    """Explain what the driver or the server said; None for what is a fault of ours."""
    said = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(said, psycopg.errors.InsufficientPrivilege):
        return CommandFailed(f"{_NO_RIGHT} ({said.diag.message_primary})")
    if isinstance(said, psycopg.ProgrammingError) and said.sqlstate is None:
        # Its text repeats what could not be read, and that holds a password.
        return CommandFailed(_NO_ADDRESS)
    outage = outage_of(error)
    if outage is None:
        return None
    # What the driver or the server said names host, port and user, but no password.
    reason = " ".join(str(said).split())
    text = _way_out(outage)
    return CommandFailed(f"{text} ({reason})" if reason else text, Exit.UNREACHABLE)


def _way_out(outage: DatabaseUnavailable) -> str:
    way_out = _WAYS_OUT.get(outage.cause)
    return f"{outage.sentence}: {way_out}" if way_out else _NO_RESPONSE


def in_store(settings: Settings, action: Callable[[Dependencies], Awaitable[T]]) -> T:
    """Open the store, run the action, close it; raises CommandFailed."""
    if isinstance(structlog.get_config()["logger_factory"], structlog.PrintLoggerFactory):
        # It writes to standard output, which belongs to the command's own, which may be JSON.
        structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    if settings.database_url is None and not settings.data_dir.is_dir():
        raise CommandFailed(
            f"there is no data directory {settings.data_dir}: name it by --data-dir or "
            "MUDRA_DATA_DIR, or start the service once, which makes it"
        )
    with opening(), open_store(settings, create=False) as (conninfo, encryption):
        settings = with_recorded(settings, conninfo)
        return asyncio.run(_run(build_dependencies(settings, conninfo, encryption), action))


async def _run(dependencies: Dependencies, action: Callable[[Dependencies], Awaitable[T]]) -> T:
    async with _in_use(dependencies):
        return await action(dependencies)


@contextlib.asynccontextmanager
async def _in_use(dependencies: Dependencies) -> AsyncIterator[None]:
    """Take the time of the store, and leave it at the end.

    A command whose change no node may miss listens from then on, others never.
    """
    await dependencies.time_machine.load()
    try:
        yield
    finally:
        await dependencies.invalidation.stop()
        await dependencies.close()


def with_recorded(settings: Settings, conninfo: str) -> Settings:
    """Take what the service recorded, unless this command has a setting of its own."""
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        facts: dict[str, str] = dict(
            connection.execute(
                "SELECT name, value FROM service_fact WHERE name = ANY(%s)",
                [["base-url", "registry-one-operator"]],
            ).fetchall()
        )
    if not settings.base_url and "base-url" in facts:
        settings = replace(settings, base_url=facts["base-url"])
    if settings.registry_one_operator is None and "registry-one-operator" in facts:
        settings = replace(settings, registry_one_operator=facts["registry-one-operator"] == "true")
    return settings
