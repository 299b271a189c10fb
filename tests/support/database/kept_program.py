"""The program of the command line for a service whose store is kept open: a command acts on that.

To open the store and to close it again takes a command 70 ms of CPU, most of its time.
"""

import contextlib
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Final, TypeVar

import httpx2
from tests.support.database.open_store import OpenStore

from mudra.bootstrap.command_line import LocalProgram
from mudra.bootstrap.dependencies import Dependencies
from mudra.bootstrap.local_store import opening
from mudra.cli.local.program import program, provide
from mudra.settings.settings import Settings

T = TypeVar("T")
_OPEN_FOR_THEMSELVES: Final = {"sandbox", "keys", "database", "backup", "doctor", "migrate"}
"""Commands that change what an open store keeps in memory, or are about its being opened."""


class KeptProgram(LocalProgram):
    """Acts on an open store where a command asks for the store of the same settings."""

    def __init__(self, settings: Settings, store: OpenStore) -> None:
        self._settings = settings
        self._store = store

    def in_store(self, action: Callable[[Dependencies], Awaitable[T]], data_dir: Path | None) -> T:
        """Act on the open store; raises CommandFailed as the program does."""
        if self.settings({"data_dir": data_dir}) != self._settings:
            return super().in_store(action, data_dir)
        with opening():
            return self._store.act(action)

    def in_api(
        self,
        action: Callable[[httpx2.AsyncClient], Awaitable[T]],
        data_dir: Path | None,
        owner: str,
    ) -> T:
        """Act on the API of the open store; raises CommandFailed as the program does."""
        if self.settings({"data_dir": data_dir}) != self._settings:
            return super().in_api(action, data_dir, owner)
        with opening():
            return self._store.act_on_api(action, owner)


@contextlib.contextmanager
def keeping_open(
    command: str, settings: Settings, store: Callable[[], OpenStore]
) -> Iterator[None]:
    """Let a command meanwhile act on an open store, where it may."""
    if command in _OPEN_FOR_THEMSELVES:
        yield
        return
    usual = program()
    provide(KeptProgram(settings, store()))
    try:
        yield
    finally:
        provide(usual)
