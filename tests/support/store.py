"""The data of a running service: acts on it, and commands that are run against it.

A command opens the store, acts and closes it: 0.1 s of CPU, most of it for statements that are
compiled and connections that are warmed again. Tests that provision hundreds of members keep it
open as long as the service runs. From the first change that may not be missed this process is one
of the nodes that listen, as a worker is: to begin and to end that takes two connections, which is
more than most changes take. Before the service's clock is moved it leaves: the time machine waits
for nodes that were silent for a second.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final, TypeVar

import httpx2
import uvloop
from typer.testing import CliRunner, Result

from mudra.bootstrap import local_store
from mudra.bootstrap.command_line import LocalProgram, app
from mudra.bootstrap.config import load_settings
from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.local_api import api_of_owner
from mudra.bootstrap.local_store import opening, with_recorded
from mudra.bootstrap.node.serve import open_store
from mudra.cli.local.program import program, provide
from mudra.settings.settings import Settings
from mudra.storage.database.database import Database
from mudra.storage.database.transaction import Transaction

T = TypeVar("T")
_ACTION_S: Final = 300
_TRANSACTION_S: Final = 30.0
"""Ten times as long as one of a request: longer ones take another statement each."""
_OPEN_FOR_THEMSELVES: Final = {"sandbox", "keys", "database", "backup", "doctor", "migrate"}
"""Commands that change what an open store keeps in memory, or are about its being opened."""


class StoreOfService:
    """The store of one service, opened for each act, or once where it is kept open."""

    def __init__(self, environment: dict[str, str], *, kept_open: bool) -> None:
        self._environment = environment
        self._kept_open = kept_open
        self._open: OpenStore | None = None

    def cli(self, words: tuple[str, ...], stdin: str) -> Result:
        """Run the mudra command in this process."""
        with contextlib.ExitStack() as meanwhile:
            if self._kept_open and words[0] not in _OPEN_FOR_THEMSELVES:
                meanwhile.enter_context(_providing(KeptProgram(self._settings, self._opened())))
            return CliRunner().invoke(app, list(words), input=stdin, env=self._environment)

    def act(self, action: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Act as a command does."""
        return self._opened().act(action) if self._kept_open else self.act_apart(action)

    def act_apart(self, action: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Act as a command does that opens the store for itself, in this thread."""

        async def patiently(dependencies: Dependencies) -> T:
            _be_patient(dependencies.database)
            return await action(dependencies)

        return local_store.in_store(self._settings, patiently)

    def leave(self) -> None:
        """Let the service's clock be moved."""
        if self._open is not None:
            self._open.leave()

    def close(self) -> None:
        """Close it: before the service stops."""
        if self._open is not None:
            self._open.close()
            self._open = None

    @property
    def _settings(self) -> Settings:
        return load_settings(self._environment, {})

    def _opened(self) -> "OpenStore":
        if self._open is None:
            self._open = OpenStore(self._settings)
        return self._open


class OpenStore:
    """Acts on the store as a command does, one action at a time, from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._open = contextlib.ExitStack()
        conninfo, encryption = self._open.enter_context(open_store(settings, create=False))
        recorded = with_recorded(settings, conninfo)
        self._dependencies = build_dependencies(recorded, conninfo, encryption)
        _be_patient(self._dependencies.database)
        self._of_api = contextlib.AsyncExitStack()
        self._api: httpx2.AsyncClient | None = None
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._one_at_a_time = threading.Lock()

    def act(self, action: Callable[[Dependencies], Awaitable[T]]) -> T:
        """Run an action."""
        return self._done(self._acted(action))

    def act_on_api(self, action: Callable[[httpx2.AsyncClient], Awaitable[T]], owner: str) -> T:
        """Run an action with the API, which is built once: that takes 0.2 s of CPU."""

        async def acted(dependencies: Dependencies) -> T:
            if self._api is None:
                self._api = await self._of_api.enter_async_context(
                    api_of_owner(dependencies, owner)
                )
            return await action(self._api)

        return self.act(acted)

    def leave(self) -> None:
        """Be none of the nodes that listen, until the next change."""
        self._done(self._dependencies.invalidation.stop())

    def _done(self, coroutine: Coroutine[object, object, T]) -> T:
        with self._one_at_a_time:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(_ACTION_S)

    async def _acted(self, action: Callable[[Dependencies], Awaitable[T]]) -> T:
        await self._dependencies.time_machine.load()
        return await action(self._dependencies)

    def close(self) -> None:
        """Leave the store: before the service stops, which takes its database along."""
        self.leave()
        self._done(self._of_api.aclose())
        self._done(self._dependencies.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ACTION_S)
        self._loop.close()
        self._open.close()


def _be_patient(database: Database) -> None:
    """Let what tests prepare and look at take long: a loaded machine is slow, and no fault is."""
    usual = database.transaction

    def patient(*, within_s: float = _TRANSACTION_S) -> AbstractAsyncContextManager[Transaction]:
        return usual(within_s=max(within_s, _TRANSACTION_S))

    vars(database)["transaction"] = patient


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
def _providing(kept: KeptProgram) -> Iterator[None]:
    """Let a command meanwhile act on an open store."""
    usual = program()
    provide(kept)
    try:
        yield
    finally:
        provide(usual)
