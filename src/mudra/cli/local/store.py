"""Administration acts on the data directory or database: opens both for one command."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import psycopg
import structlog

from mudra.bootstrap.config import Settings
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.serve import open_store
from mudra.cli.local.opening import StoreClosed, opening
from mudra.cli.local.settings import settings_of
from mudra.cli.output.output import fail

T = TypeVar("T")


def with_rooms(act: Callable[[Dependencies], Awaitable[T]], data_dir: Path | None = None) -> T:
    """Open the store, act, close it; a store that stays closed ends with a sentence."""
    try:
        return in_store(act, data_dir)
    except StoreClosed as closed:
        fail(str(closed), closed.code)


def in_store(act: Callable[[Dependencies], Awaitable[T]], data_dir: Path | None = None) -> T:
    """Open the store, act, close it; raises StoreClosed."""
    _log_beside_the_answer()
    settings = settings_of(data_dir)
    if settings.database_url is None and not settings.data_dir.is_dir():
        raise StoreClosed(
            f"there is no data directory {settings.data_dir}: name it by --data-dir or "
            "MUDRA_DATA_DIR, or start the service once, which makes it"
        )
    with opening(), open_store(settings, create=False) as (conninfo, seal):
        settings = _with_recorded_base(settings, conninfo)
        return asyncio.run(_acting(build_dependencies(settings, conninfo, seal), act))


def _log_beside_the_answer() -> None:
    """Send log lines to standard error: structlog's own choice would break `--json`."""
    if not structlog.is_configured():
        structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))


async def _acting(dependencies: Dependencies, act: Callable[[Dependencies], Awaitable[T]]) -> T:
    async with _listening(dependencies):
        return await act(dependencies)


@contextlib.asynccontextmanager
async def _listening(dependencies: Dependencies) -> AsyncIterator[None]:
    """A command that changes something waits for the nodes that must hear of it."""
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
