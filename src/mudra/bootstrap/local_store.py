"""Opens data directory and database for one command, and explains what keeps them closed."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Final, TypeVar

import psycopg
import structlog

from mudra.bootstrap.config import Settings
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.serve import open_store
from mudra.bootstrap.supervisor import CannotListen
from mudra.cli.local.program import CommandFailed
from mudra.cli.output.output import Exit
from mudra.mail.compose import TemplateError
from mudra.mail.mail_server import MailUrlError
from mudra.shared.unavailable import DatabaseUnavailable
from mudra.storage.crypto.keyring import CiphertextInvalid, MasterVersionMissing
from mudra.storage.crypto.master_key import MasterKeyError
from mudra.storage.database.embedded.server import EmbeddedServerError
from mudra.storage.database.migrate import SchemaUnknown

T = TypeVar("T")

_NO_RESPONSE: Final = (
    "the database did not answer: check MUDRA_DATABASE_URL, or MUDRA_DATA_DIR and the service"
)


@contextlib.contextmanager
def opening() -> Iterator[None]:
    """Raise CommandFailed for what may be wrong with data directory, database and settings."""
    try:
        yield
    except (
        CannotListen,
        EmbeddedServerError,
        MailUrlError,
        MasterKeyError,
        SchemaUnknown,
        TemplateError,
    ) as error:
        raise CommandFailed(str(error)) from error
    except (CiphertextInvalid, MasterVersionMissing) as error:
        raise CommandFailed(f"{error}: is this the master key of this database?") from error
    except DatabaseUnavailable as error:
        raise CommandFailed(_NO_RESPONSE, Exit.UNREACHABLE) from error
    except psycopg.OperationalError as error:
        # What the driver or the server said names host, port and user, but no password.
        reason = " ".join(str(error).split())
        text = f"{_NO_RESPONSE} ({reason})" if reason else _NO_RESPONSE
        raise CommandFailed(text, Exit.UNREACHABLE) from error
    except psycopg.ProgrammingError as error:
        if error.sqlstate is not None:
            raise  # said by a server, so the address was right
        # Its text repeats what could not be read, and that holds a password.
        raise CommandFailed(
            "MUDRA_DATABASE_URL cannot be read: write postgresql://user:password@host/database"
        ) from error


def in_store(settings: Settings, action: Callable[[Dependencies], Awaitable[T]]) -> T:
    """Open the store, run the action, close it; raises CommandFailed."""
    if not structlog.is_configured():
        # Standard output belongs to the command's own output, which may be JSON.
        structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
    if settings.database_url is None and not settings.data_dir.is_dir():
        raise CommandFailed(
            f"there is no data directory {settings.data_dir}: name it by --data-dir or "
            "MUDRA_DATA_DIR, or start the service once, which makes it"
        )
    with opening(), open_store(settings, create=False) as (conninfo, encryption):
        settings = _with_recorded_base(settings, conninfo)
        return asyncio.run(_run(build_dependencies(settings, conninfo, encryption), action))


async def _run(dependencies: Dependencies, action: Callable[[Dependencies], Awaitable[T]]) -> T:
    async with _listening(dependencies):
        return await action(dependencies)


@contextlib.asynccontextmanager
async def _listening(dependencies: Dependencies) -> AsyncIterator[None]:
    """A command that changes something waits for the nodes that must apply it."""
    await dependencies.invalidation.start()
    await dependencies.time_machine.load()
    try:
        yield
    finally:
        await dependencies.invalidation.stop()
        await dependencies.database.close()


def _with_recorded_base(settings: Settings, conninfo: str) -> Settings:
    """Take the base address that the service recorded, unless this command has its own."""
    if settings.base_url:
        return settings
    with psycopg.connect(conninfo, connect_timeout=5) as connection:
        row = connection.execute(
            "SELECT value FROM service_fact WHERE name = 'base-url'"
        ).fetchone()
    return replace(settings, base_url=row[0]) if row else settings
