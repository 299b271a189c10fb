"""Clients take turns in the loop: one with many connections gets no further ahead of the others.

A server without a database, of which one request holds the loop until everyone has sent theirs, so
that all arrive in one round. What is compared is the order in which requests get on: no time.
"""

import asyncio
import contextlib
import socket
import struct
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any

import pytest
import uvicorn
import uvloop
from msgspec import Struct
from tests.support.until import PATIENCE_S, until

from mudra.http.response.json_response import JsonResponse
from mudra.http.server.fast_path_protocol import FastPath, fast_path_protocol
from mudra.server_protocol.client_address import TrustedProxies
from mudra.server_protocol.connection_limits import ConnectionLimits

CROWD = 50
STRANGER, OTHER = "127.7.0.1", "127.7.0.2"
AHEAD = 12
"""Requests of a crowd that may get on before one of another client, which needs ten rounds."""


class App:
    """Notes who gets on, in order; `/rounds` needs ten rounds of the loop."""

    def __init__(self) -> None:
        self.got_on: list[str] = []
        self.waiting = 0
        self.at_once_of: Counter[str] = Counter()
        self.signed: list[str] = []
        self.others_meanwhile = 0
        self.given = asyncio.Event()
        self.holding, self.released = threading.Semaphore(0), threading.Semaphore(0)

    async def __call__(
        self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Any
    ) -> None:
        client = scope["client"][0]
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                client = value.decode()
        await getattr(self, scope["path"].removeprefix("/"))(client, receive, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Any) -> None:
        headers = [(b"transfer-encoding", b"chunked")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    def at_once(self, _: object, __: bytes, peer: str) -> "Signed":
        self.at_once_of[peer] += 1
        return Signed(self.signed, peer)

    async def prompt(self, client: str, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        await self.body(client, receive, send)

    async def hold(self, _: str, __: object, send: Any) -> None:
        self._hold()
        await self._begin(send)

    def _hold(self) -> None:
        """Hold the loop, as a long step would, until the test has sent what is to arrive."""
        self.holding.release()
        assert self.released.acquire(timeout=PATIENCE_S)

    async def work(self, client: str, _: object, send: Any) -> None:
        self.got_on.append(client)
        await self._begin(send)

    async def body(self, client: str, receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        self.waiting += 1
        more = True
        while more:
            more = (await receive())["more_body"]
        self.got_on.append(client)
        await self._begin(send)

    async def pieces(self, client: str, _: object, send: Any) -> None:
        await self._begin(send)
        for _piece in range(CROWD):
            self.got_on.append(client)
            await send({"type": "http.response.body", "body": b"x", "more_body": True})

    async def shared(self, client: str, _: object, send: Any) -> None:
        self.waiting += 1
        await self.given.wait()
        await self._begin(send)
        self.got_on.append(client)

    async def give(self, _: str, __: object, send: Any) -> None:
        self.given.set()
        self._hold()
        await self._begin(send)

    async def rounds(self, client: str, _: object, send: Any) -> None:
        for _round in range(10):
            await asyncio.sleep(0)
        self.got_on.append(client)
        await self._begin(send)

    async def steps(self, client: str, _: object, send: Any) -> None:
        """As one that asks a database: many steps, none of which its client has caused."""
        self.waiting += 1
        await self.given.wait()
        for _step in range(10):
            self.got_on.append(client)
            await asyncio.sleep(0)
        self.others_meanwhile = len(self.got_on) - 10
        await self._begin(send)


class Signed(Struct, frozen=True):
    """A response of the hot path that notes when it was signed."""

    signed: list[str]
    peer: str

    def sign(self) -> None:
        self.signed.append(self.peer)

    def response(self) -> JsonResponse:
        return JsonResponse(200, b"{}")


class Clients:
    """Connections to the server from chosen addresses."""

    def __init__(self, app: App, address: tuple[str, int]) -> None:
        self.app = app
        self._address = address
        self._open: list[socket.socket] = []

    def connect(self, own: str) -> socket.socket:
        client = socket.create_connection(self._address, 30, source_address=(own, 0))
        self._open.append(client)
        return client

    def held(self, path: str = "/hold") -> contextlib.AbstractContextManager[None]:
        """Have the loop held: what is sent meanwhile arrives in one round.

        The request for it is sent at once, and it is waited for on entering.
        """
        self.connect("127.7.0.3").sendall(request(path))
        return self._held()

    @contextlib.contextmanager
    def _held(self) -> Iterator[None]:
        assert self.app.holding.acquire(timeout=PATIENCE_S)
        try:
            yield
        finally:
            self.app.released.release()

    def end(self) -> None:
        for client in self._open:
            client.close()


def request(path: str, *lines: str, method: str = "GET") -> bytes:
    head = "".join(f"{line}\r\n" for line in ("host: x", *lines))
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode()


def served(limits: ConnectionLimits) -> Iterator[Clients]:
    app = App()
    listener = socket.create_server(("127.0.0.1", 0), backlog=2 * CROWD)
    prompt = FastPath("/prompt", app.at_once)
    config = uvicorn.Config(
        app,
        http=fast_path_protocol(limits, lambda: datetime.now(UTC), prompt),
        ws="none",
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=1,
    )
    server = uvicorn.Server(config)
    serving = threading.Thread(target=lambda: uvloop.run(server.serve(sockets=[listener])))
    serving.start()
    clients = Clients(app, listener.getsockname())
    yield clients
    clients.end()
    server.should_exit = True
    serving.join(PATIENCE_S)


@pytest.fixture
def clients() -> Iterator[Clients]:
    yield from served(ConnectionLimits())


@pytest.fixture
def proxied() -> Iterator[Clients]:
    yield from served(ConnectionLimits(proxies=TrustedProxies((ip_network(f"{STRANGER}/32"),))))


def ahead_of_other(clients: Clients, other: str = OTHER) -> int:
    """How many got on before the other client did."""
    return until(lambda: clients.app.got_on.copy() if other in clients.app.got_on else []).index(
        other
    )


def test_a_crowd_of_one_address_begins_a_request_in_a_round(clients: Clients) -> None:
    crowd, other = [clients.connect(STRANGER) for _ in range(CROWD)], clients.connect(OTHER)
    with clients.held():
        for one in crowd:
            one.sendall(request("/work"))
        other.sendall(request("/rounds"))

    assert ahead_of_other(clients) <= AHEAD
    until(lambda: len(clients.app.got_on) == CROWD + 1)  # the crowd is answered as well


def test_bodies_that_arrive_at_once_are_read_one_in_a_round(clients: Clients) -> None:
    crowd, other = [clients.connect(STRANGER) for _ in range(CROWD)], clients.connect(OTHER)
    for one in crowd:
        one.sendall(request("/body", "content-length: 1", method="POST"))
    until(lambda: clients.app.waiting == CROWD)
    with clients.held():
        for one in crowd:
            one.sendall(b"x")
        other.sendall(request("/rounds"))

    assert ahead_of_other(clients) <= AHEAD
    until(lambda: len(clients.app.got_on) == CROWD + 1)


def test_an_answer_in_many_pieces_is_made_one_in_a_round(clients: Clients) -> None:
    long, other = clients.connect(STRANGER), clients.connect(OTHER)
    with clients.held():
        long.sendall(request("/pieces"))
        other.sendall(request("/rounds"))

    assert ahead_of_other(clients) <= AHEAD
    until(lambda: len(clients.app.got_on) == CROWD + 1)


def test_behind_a_trusted_proxy_clients_differ_by_their_address(proxied: Clients) -> None:
    crowd, other = [proxied.connect(STRANGER) for _ in range(CROWD)], proxied.connect(STRANGER)
    with proxied.held():
        for one in crowd:
            one.sendall(request("/work", "x-forwarded-for: 203.0.113.9"))
        other.sendall(request("/rounds", "x-forwarded-for: 198.51.100.1"))

    assert ahead_of_other(proxied, "198.51.100.1") <= AHEAD


def test_a_header_of_a_stranger_gives_it_no_second_turn(clients: Clients) -> None:
    crowd, other = [clients.connect(STRANGER) for _ in range(CROWD)], clients.connect(OTHER)
    with clients.held():
        for number, one in enumerate(crowd):
            one.sendall(request("/work", f"x-forwarded-for: 198.51.100.{number}"))
        other.sendall(request("/rounds"))

    assert ahead_of_other(clients) <= AHEAD


def test_a_request_that_waits_is_not_begun_once_its_connection_is_lost(clients: Clients) -> None:
    crowd = [clients.connect(STRANGER) for _ in range(CROWD)]
    with clients.held():
        for one in crowd:
            one.sendall(request("/work"))
        second = clients.held()  # between their arrival and their loss
    with second:
        for one in crowd:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
        clients.connect(OTHER).sendall(request("/rounds"))

    until(lambda: OTHER in clients.app.got_on)
    assert clients.app.got_on.count(STRANGER) <= AHEAD


def test_of_requests_without_end_in_one_piece_a_few_are_answered(clients: Clients) -> None:
    greedy = clients.connect(STRANGER)
    with clients.held():
        greedy.sendall(request("/work") * 1000)
    heard = greedy.makefile("rb").read()

    assert heard.count(b"HTTP/1.1 200 OK") == len(clients.app.got_on) <= AHEAD
    assert heard.count(b"connection: close") == 1  # of the last one, so that it knows


@pytest.mark.parametrize(
    "sent",
    [b"GET /work\r\n\r\n", b"GET /work HTTP/0.9\r\n\r\n", b"GET /work HTTP/2.0\r\nhost: x\r\n\r\n"],
)
def test_a_request_of_another_version_of_http_is_refused(clients: Clients, sent: bytes) -> None:
    client = clients.connect(STRANGER)

    client.sendall(sent)

    assert client.makefile("rb").read().startswith(b"HTTP/1.1 400 ")
    assert clients.app.got_on == []


def test_http_1_0_needs_no_host(clients: Clients) -> None:
    client = clients.connect(STRANGER)

    client.sendall(b"GET /work HTTP/1.0\r\n\r\n")

    assert client.makefile("rb").read().startswith(b"HTTP/1.1 200 ")


def test_a_value_that_a_crowd_waited_for_is_sent_to_one_in_a_round(clients: Clients) -> None:
    crowd, other = [clients.connect(STRANGER) for _ in range(CROWD)], clients.connect(OTHER)
    for one in crowd:
        one.sendall(request("/shared"))
    until(lambda: clients.app.waiting == CROWD)

    with clients.held("/give"):
        other.sendall(request("/rounds"))

    assert ahead_of_other(clients) <= AHEAD
    until(lambda: len(clients.app.got_on) == CROWD + 1)


def test_of_answers_without_a_turn_a_client_gets_some_in_a_round(clients: Clients) -> None:
    """Of the hot path: the rest is answered as any other request is."""
    crowd, other = [clients.connect(STRANGER) for _ in range(CROWD)], clients.connect(OTHER)
    with clients.held():
        for one in (*crowd, other):
            one.sendall(request("/prompt", "content-length: 1", method="POST") + b"x")

    until(lambda: clients.app.at_once_of.total() + len(clients.app.got_on) == CROWD + 1)
    assert clients.app.at_once_of[OTHER] == 1
    assert 8 <= clients.app.at_once_of[STRANGER] <= 16


def test_a_request_takes_a_turn_for_each_of_its_steps(clients: Clients) -> None:
    crowd, other = [clients.connect(STRANGER) for _ in range(CROWD)], clients.connect(OTHER)
    for one in crowd:
        one.sendall(request("/steps"))
    until(lambda: clients.app.waiting == CROWD)

    with clients.held("/give"):
        other.sendall(request("/rounds"))

    assert ahead_of_other(clients) <= AHEAD + 4
    until(lambda: len(clients.app.got_on) == 10 * CROWD + 1)


def test_what_has_begun_gets_on_before_what_the_same_client_sends(clients: Clients) -> None:
    """It may hold a connection to the database, for which everyone waits."""
    begun, crowd = clients.connect(STRANGER), [clients.connect(STRANGER) for _ in range(CROWD)]
    begun.sendall(request("/steps"))
    until(lambda: clients.app.waiting == 1)

    with clients.held("/give"):
        for one in crowd:
            one.sendall(request("/work"))

    until(lambda: len(clients.app.got_on) == CROWD + 10)
    assert clients.app.others_meanwhile <= 2 * AHEAD


def prompt() -> bytes:
    return request("/prompt", "content-length: 1", method="POST") + b"x"


def test_answers_without_a_turn_are_counted_from_zero_in_each_round(clients: Clients) -> None:
    one, crowd = clients.connect(STRANGER), [clients.connect(STRANGER) for _ in range(16)]
    for _ in range(CROWD):
        one.sendall(prompt())
        assert one.recv(1 << 16)
    with clients.held():
        for each in crowd:
            each.sendall(prompt())

    until(lambda: clients.app.at_once_of.total() + len(clients.app.got_on) == CROWD + 16)
    assert clients.app.at_once_of[STRANGER] == CROWD + 16


def test_answers_without_a_turn_are_counted_for_each_client_of_a_proxy(proxied: Clients) -> None:
    crowd = [proxied.connect(STRANGER) for _ in range(32)]
    with proxied.held():
        for number, one in enumerate(crowd):
            line = f"x-forwarded-for: 203.0.113.{number % 2}"
            sent = request("/prompt", line, "content-length: 1", method="POST") + b"x"
            one.sendall(sent)

    until(lambda: proxied.app.at_once_of.total() + len(proxied.app.got_on) == 32)
    assert proxied.app.at_once_of.total() == 32


def test_what_has_begun_gets_on_before_bodies_that_the_same_client_sends(clients: Clients) -> None:
    begun, crowd = clients.connect(STRANGER), [clients.connect(STRANGER) for _ in range(CROWD)]
    begun.sendall(request("/steps"))
    for one in crowd:
        one.sendall(request("/body", "content-length: 1", method="POST"))
    until(lambda: clients.app.waiting == CROWD + 1)

    with clients.held("/give"):
        for one in crowd:
            one.sendall(b"x")

    until(lambda: len(clients.app.got_on) == CROWD + 10)
    assert clients.app.others_meanwhile <= 2 * AHEAD


def test_signatures_for_a_crowd_are_made_a_few_in_a_round(clients: Clients) -> None:
    crowd, other = [clients.connect(STRANGER) for _ in range(16)], clients.connect(OTHER)
    other.sendall(prompt())  # so that the crowd is not alone
    until(lambda: clients.app.signed == [OTHER])
    with clients.held():
        for one in (*crowd, other):
            one.sendall(prompt())

    signed = until(lambda: clients.app.signed if len(clients.app.signed) == 18 else [])
    assert signed[1:].index(OTHER) <= 4
    for one in crowd:
        one.settimeout(10)
        assert one.recv(16) == b"HTTP/1.1 200 OK\r"


def test_a_client_that_ends_its_side_gets_the_answer_that_waits(clients: Clients) -> None:
    crowd = [clients.connect(STRANGER) for _ in range(16)]
    with clients.held():
        for one in crowd:
            one.sendall(prompt())
            one.shutdown(socket.SHUT_WR)

    for one in crowd:
        one.settimeout(10)
        assert one.makefile("rb").read().endswith(b"{}")  # and the connection ends
