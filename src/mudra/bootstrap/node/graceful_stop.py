"""A server that ends without losing a request that a proxy sends to it.

Uvicorn's own stop closes the listener and all idle connections at once. A proxy that has just
chosen one of them gets a reset, and may not send a POST again. Here readiness goes first; for a
pause every answer says `Connection: close`, which proxies obey; the listener goes last.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from types import FrameType
from typing import Final, Protocol

import uvicorn

from mudra.bootstrap.node.node_state import NodeState
from mudra.server_protocol.limited_protocol import LimitedProtocol

_LOOK_S: Final = 0.01
_USED_S: Final = 0.5
_UNUSED_S: Final = 1.0
"""No longer: the first request after a rest gets the Date header of the last turn."""
_FIRST_REQUEST_S: Final = 1.0
"""How long a connection that was accepted last may take to send what it came for."""


class StoppingServer(uvicorn.Server):
    """Serves until stopped; a second signal ends the pause."""

    def __init__(
        self,
        config: uvicorn.Config,
        ready: Callable[[], None],
        node: NodeState,
        pause_s: float,
    ) -> None:
        super().__init__(config)
        self._ready = ready
        self._node = node
        self._pause_s = pause_s
        self._hurried = False
        self._ended, self._hurry = asyncio.Event(), asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self._ready()

    async def main_loop(self) -> None:
        """Wait for the end; uvicorn's own loop wakes ten times a second. See `pulse`."""
        await self._ended.wait()

    def stop(self) -> None:
        """Begin to stop, without a pause when that was called before: the supervisor is gone."""
        self._hurried = True
        self.should_exit = True
        self._wake()

    def handle_exit(self, _sig: int, _frame: FrameType | None) -> None:
        """Begin to stop; a second signal ends the pause.

        Uvicorn's own notes the signal, and raises it again when the server has ended: it would
        kill this process before what waits in memory is written.
        """
        self._hurried = self.should_exit
        self.should_exit = True
        self._wake()

    def _wake(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._ended.set)
            if self._hurried:
                self._loop.call_soon_threadsafe(self._hurry.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Go off in order: readiness, keep-alive, the pause, the listener, what is under way."""
        self._node.stopping = True
        for connection in self.server_state.connections:
            if isinstance(connection, LimitedProtocol):
                connection.answer_last()
        if not self._hurried:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._hurry.wait(), self._pause_s)
        for listener in sockets or []:
            await self._accept_the_rest(listener)
        loop = asyncio.get_running_loop()
        until = loop.time() + (0 if self._hurried else min(_FIRST_REQUEST_S, self._pause_s))
        while loop.time() < until and any(  # noqa: ASYNC110  # no event shows an answer
            map(_is_new, self.server_state.connections)
        ):
            await asyncio.sleep(_LOOK_S)
        await super().shutdown(sockets)

    async def _accept_the_rest(self, listener: socket.socket) -> None:
        """Take what the kernel has accepted for us: closing the listener would reset it."""
        with listener.dup() as rest:
            rest.settimeout(0)
            for server in self.servers:
                server.close()
            accepted: list[socket.socket] = []
            try:
                while True:
                    accepted.append(rest.accept()[0])
            except BlockingIOError:
                listener.close()
        loop = asyncio.get_running_loop()
        for connection in accepted:
            await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        return self.config.http_protocol_class(  # type: ignore[call-arg]  # as uvicorn makes it
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )


def _is_new(connection: object) -> bool:
    return isinstance(connection, LimitedProtocol) and connection.is_new()


class Gathering(Protocol):
    """Values that collect in memory, and are to be brought on."""

    def flush(self) -> None:
        """Bring it on."""


async def pulse(server: StoppingServer, beat: Callable[[], None], *gathering: Gathering) -> None:
    """Beats, keeps the Date header right and flushes, until cancelled: all in one turn a second.

    Waking costs more than what is done then. In 24 workers six timers each were 2 % of a core.
    """
    while True:
        beat()
        await server.on_tick(0)
        for one in gathering:
            one.flush()
        await asyncio.sleep(_USED_S if server.server_state.connections else _UNUSED_S)
