"""Clients take turns in the event loop: one with many connections delays no other (decision 0220).

A limit on how many requests are in progress holds back none that never waits: two hundred of
them were begun, made and sent in a single round of the loop, and everyone else waited for its end.
So whatever a client causes, a request as much as the next part of its body, takes a turn first,
and the turns of a round are few. An answer takes one as well before it is sent: a value that two
hundred waited for comes to all of them in one round.
"""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, Final

from uvicorn._types import (
    ASGI3Application,
    ASGIReceiveCallable,
    ASGIReceiveEvent,
    ASGISendCallable,
    ASGISendEvent,
    HTTPScope,
)

from mudra.server_protocol.client_address import client_address
from mudra.shared.fair_queue import Queue
from mudra.shared.network_address import Network, address_key

_OF_A_CLIENT: Final = 1
_IN_ALL: Final = 4
"""Turns in one round of the loop. A round without any work takes some ten microseconds."""
_PROMPT: Final = 32
"""Answers to a client in one round that are made where they are read, without a turn: tokens."""
_ARRIVED: Final = "mudra.arrived"


def note_arrival(state: dict[str, Any]) -> None:
    """Note in the state of a request that its seconds count from now on: it waits for its turn."""
    state[_ARRIVED] = perf_counter()


def arrival(state: dict[str, Any]) -> float:
    """Return when a request arrived, by `perf_counter`; without a note that is now."""
    arrived: float = state.get(_ARRIVED) or perf_counter()
    return arrived


class ClientTurns:
    """The turns of all clients of a process, in rotation by the address of the client."""

    def __init__(self, proxies: Sequence[Network] = ()) -> None:
        self._proxies = proxies
        self._queue = Queue(_IN_ALL, per_key=_OF_A_CLIENT)
        self._prompt: Counter[str] = Counter()

    def of(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> "RequestTurn":
        """Return the turn of a request; a trusted proxy names the client for whom it sends it."""
        return RequestTurn(self._queue, self._client(peer, headers))

    def may_be_prompt(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Count an answer without a turn; False for a client with too many in this round."""
        if not self._prompt:
            asyncio.get_running_loop().call_soon(self._prompt.clear)
        client = self._client(peer, headers)
        self._prompt[client] += 1
        return self._prompt[client] <= _PROMPT

    def _client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        forwarded = [
            value.decode("latin-1")
            for name, value in (headers if self._proxies else ())
            if name == b"x-forwarded-for"
        ]
        return address_key(client_address(peer, forwarded, self._proxies))


class RequestTurn:
    """The turns of one request: each lasts for a round of the loop."""

    def __init__(self, queue: Queue, key: str) -> None:
        self._queue = queue
        self._key = key
        self._is_held = False

    async def take(self) -> None:
        """Return in a round of the loop in which the request may do a piece of its work."""
        if not self._is_held:
            await self._take_next()

    async def answer(
        self,
        app: ASGI3Application,
        scope: HTTPScope,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
    ) -> None:
        """Answer by `app`, which goes on in a turn when its client has sent or taken something."""

        async def received() -> ASGIReceiveEvent:
            message = await receive()
            await self.take()
            return message

        async def sent(message: ASGISendEvent) -> None:
            if message["type"] == "http.response.start":
                await self.take()
            await send(message)
            if message.get("more_body"):
                await self._take_next()  # else one long answer would be made in one round

        await app(scope, received, sent)

    async def _take_next(self) -> None:
        await self._queue.enter(self._key)
        self._is_held = True
        asyncio.get_running_loop().call_soon(self._give_back)

    def _give_back(self) -> None:
        self._is_held = False
        self._queue.leave(self._key)
