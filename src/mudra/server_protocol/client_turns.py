"""Clients take turns in the event loop: one with many connections delays no other (decision 0220).

A limit on how many requests are in progress holds back none that never waits: two hundred of
them were begun, made and sent in a single round of the loop, and everyone else waited for its end.
So every step of a request takes a turn first, whatever it waited for: its beginning, the next part
of its body, an answer of the database. The turns of a round are few.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Generator, Iterable
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

from mudra.server_protocol.client_address import NO_PROXIES, TrustedProxies, client_address
from mudra.shared.network_address import address_key

_IN_ALL: Final = 4
"""Turns in one round of the loop, of as many clients."""
_PROMPT: Final = 16
"""Answers to a client in one round that are made where they are read, without a turn: tokens."""
_ARRIVED: Final = "mudra.arrived"


def note_arrival(state: dict[str, Any]) -> None:
    """Note in the state of a request that its seconds count from now on: it waits for its turn."""
    state[_ARRIVED] = perf_counter()


def arrival(state: dict[str, Any]) -> float:
    """Return when a request arrived, by `perf_counter`; without a note that is now."""
    arrived: float = state.get(_ARRIVED) or perf_counter()
    return arrived


class _Line:
    """The requests of one client that wait for a turn.

    What has come from within the process goes first: it may hold a connection to the database,
    and no client can have more of it than there are such places. What a client itself sends or
    takes it can cause without end.
    """

    __slots__ = ("begun", "sent")

    def __init__(self) -> None:
        self.begun: deque[asyncio.Future[None]] = deque()
        self.sent: deque[asyncio.Future[None]] = deque()

    def next(self) -> asyncio.Future[None] | None:
        for waiting in (self.begun, self.sent):
            while waiting:
                turn = waiting.popleft()
                if not turn.done():  # else its request has ended
                    return turn
        return None


class ClientTurns:
    """The turns of all clients of a process, in rotation: one of each in a round of the loop."""

    def __init__(self, proxies: TrustedProxies = NO_PROXIES) -> None:
        self._proxies = proxies
        self._had: set[str] = set()
        """The clients that had a turn in this round."""
        self._lines: defaultdict[str, _Line] = defaultdict(_Line)
        """Of the clients that wait, the one that had its last turn before all others first."""
        self._prompt: Counter[str] = Counter()

    def of(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> "RequestTurns":
        """Return the turns of a request."""
        return RequestTurns(self, self.client(peer, headers))

    async def take(self, client: str, *, as_sent: bool) -> None:
        """Return in a round of the loop that has a turn for this client.

        `as_sent` is for what the client itself caused, by sending or by taking.
        """
        if client not in self._had and len(self._had) < _IN_ALL:
            if not self._had:
                asyncio.get_running_loop().call_soon(self._begin_round)
            self._had.add(client)
            return
        line = self._lines[client]
        turn = asyncio.get_running_loop().create_future()
        (line.sent if as_sent else line.begun).append(turn)
        await turn

    def may_be_prompt(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Count an answer without a turn; False for a client with too many in this round."""
        if not self._prompt:
            asyncio.get_running_loop().call_soon(self._prompt.clear)
        client = self.client(peer, headers)
        self._prompt[client] += 1
        return self._prompt[client] <= _PROMPT

    def _begin_round(self) -> None:
        self._had.clear()
        while self._lines and len(self._had) < _IN_ALL:
            client = next(iter(self._lines))
            if client in self._had:
                break
            line = self._lines.pop(client)
            turn = line.next()
            if turn is not None:
                self._lines[client] = line
                self._had.add(client)
                turn.set_result(None)
        if self._had:
            asyncio.get_running_loop().call_soon(self._begin_round)

    def client(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """Return whose request it is: a trusted proxy names the client for whom it sends it."""
        return address_key(client_address(peer, headers, self._proxies))


class RequestTurns:
    """The turns of one request: one for each of its steps."""

    def __init__(self, turns: ClientTurns, client: str) -> None:
        self._turns = turns
        self.client = client
        self._is_clients = False
        """What the request waits for now is its client."""

    async def begin(self) -> None:
        """Return in a round of the loop in which the request may begin."""
        await self._turns.take(self.client, as_sent=True)

    async def answer(
        self,
        app: ASGI3Application,
        scope: HTTPScope,
        receive: ASGIReceiveCallable,
        send: ASGISendCallable,
    ) -> None:
        """Answer by `app`, each step of which takes a turn but the first, which has one."""

        async def received() -> ASGIReceiveEvent:
            self._is_clients = True
            try:
                return await receive()
            finally:
                self._is_clients = False

        async def sent(message: ASGISendEvent) -> None:
            self._is_clients = True
            try:
                await send(message)
                if message.get("more_body"):
                    await asyncio.sleep(0)  # else one long answer would be made in one round
            finally:
                self._is_clients = False

        await _Steps(self, app(scope, received, sent))

    async def take(self) -> None:
        """Return in a round of the loop in which the request may go on."""
        await self._turns.take(self.client, as_sent=self._is_clients)


class _Steps:
    """Runs an answer step by step: when what it waited for is there, it waits for a turn."""

    def __init__(self, turns: RequestTurns, answer: Awaitable[None]) -> None:
        self._turns = turns
        self._answer = answer

    def __await__(self) -> Generator[object, None, None]:
        steps = self._answer.__await__()
        error: BaseException | None = None
        while True:
            try:
                waits_for = next(steps) if error is None else steps.throw(error)
            except StopIteration:
                return
            error = None
            try:
                yield waits_for
                yield from self._turns.take().__await__()
            except BaseException as raised:  # noqa: BLE001  # passed on: a deadline, the end
                error = raised
