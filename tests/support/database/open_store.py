"""The data of a running service, open in this process as long as the service runs.

A command opens the store, acts and closes it: 0.1 s of CPU, most of it for statements that are
compiled and connections that are warmed again. Tests that provision hundreds of members keep it.
From the first change that may not be missed it is one of the nodes that listen, as a worker is:
to begin and to end that takes two connections, which is more than most changes take. Before the
service's clock is moved it leaves: the time machine waits for nodes that were silent for a second.
"""

import asyncio
import contextlib
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final, TypeVar

import httpx2
import uvloop

from mudra.bootstrap.dependencies import Dependencies, build_dependencies
from mudra.bootstrap.local_api import api_of_owner
from mudra.bootstrap.local_store import with_recorded
from mudra.bootstrap.node.serve import open_store
from mudra.settings.settings import Settings

T = TypeVar("T")
_ACTION_S: Final = 300


class OpenStore:
    """Acts on the store as a command does, one action at a time, from any thread."""

    def __init__(self, settings: Settings) -> None:
        self._open = contextlib.ExitStack()
        conninfo, encryption = self._open.enter_context(open_store(settings, create=False))
        recorded = with_recorded(settings, conninfo)
        self._dependencies = build_dependencies(recorded, conninfo, encryption)
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
                self._api = api_of_owner(dependencies, owner)
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
        self._done(self._dependencies.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_ACTION_S)
        self._loop.close()
        self._open.close()
