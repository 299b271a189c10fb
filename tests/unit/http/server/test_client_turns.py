"""Clients take turns in the loop: one with many connections gets no further ahead of the others.

A server without a database, of which one request holds the loop until everyone has sent theirs, so
that all arrive in one round. What is compared is the order in which requests get on: no time.
"""

import asyncio
import socket
import struct
from collections.abc import Iterator
from ipaddress import ip_network
from itertools import pairwise
from typing import Any

import pytest
from tests.support.until import until
from tests.unit.http.server.turns_server import (
    AHEAD,
    CROWD,
    OTHER,
    STRANGER,
    Clients,
    request,
    served,
)

from mudra.server_protocol.client_address import TrustedProxies
from mudra.server_protocol.client_turns import ClientTurns
from mudra.server_protocol.connection_limits import ConnectionLimits


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


@pytest.mark.parametrize("path", ["/steps", "/sent_steps"])
def test_what_has_begun_gets_on_before_what_the_same_client_sends(
    clients: Clients, path: str
) -> None:
    """It may hold a connection to the database, for which everyone waits."""
    begun, crowd = clients.connect(STRANGER), [clients.connect(STRANGER) for _ in range(CROWD)]
    begun.sendall(request(path))
    until(lambda: clients.app.waiting == 1)

    with clients.held("/give"):
        for one in crowd:
            one.sendall(request("/work"))

    until(lambda: len(clients.app.got_on) == CROWD + 10)
    assert clients.app.others_meanwhile <= 2 * AHEAD


def test_the_seconds_of_a_request_begin_before_it_waits_for_its_turn(clients: Clients) -> None:
    crowd = [clients.connect(STRANGER) for _ in range(4)]
    with clients.held():
        for one in crowd:
            one.sendall(request("/compute"))

    took_s = until(lambda: clients.app.took_s if len(clients.app.took_s) == len(crowd) else [])
    assert max(took_s) >= sum(clients.app.worked_s)


def test_four_clients_have_a_turn_in_a_round() -> None:
    async def begun_after_each_round() -> list[int]:
        turns, begun, counts = ClientTurns(), list[int](), [0]

        async def begin(client: int) -> None:
            await turns.take(f"198.51.100.{client}", as_sent=True)
            begun.append(client)

        async with asyncio.TaskGroup() as clients:
            for client in range(10):
                clients.create_task(begin(client))
            while len(begun) < 10:
                await asyncio.sleep(0)
                counts.append(len(begun))
        return counts

    counts = asyncio.run(begun_after_each_round())

    assert max(later - earlier for earlier, later in pairwise(counts)) == 4


def test_a_request_that_is_cancelled_while_it_waits_for_its_turn_gets_on_no_more() -> None:
    """As at its deadline."""

    async def got_on() -> list[str]:
        turns, got_on = ClientTurns().of(STRANGER, ()), list[str]()

        async def app(*_: object) -> None:
            await asyncio.sleep(0)
            got_on.append("after its first step")

        crowd = [asyncio.ensure_future(turns.take()) for _ in range(10)]
        nothing: Any = None
        request = asyncio.ensure_future(turns.answer(app, nothing, nothing, nothing))
        for _round in range(3):
            await asyncio.sleep(0)
        request.cancel()
        await asyncio.wait([*crowd, request])
        assert request.cancelled()
        return got_on

    assert asyncio.run(got_on()) == []


def prompt() -> bytes:
    return request("/prompt", "content-length: 1", method="POST") + b"x"


def test_answers_without_a_turn_are_counted_from_zero_in_each_round(clients: Clients) -> None:
    alone = CROWD + 1  # an odd number: one that is left over would count too
    one, crowd = clients.connect(STRANGER), [clients.connect(STRANGER) for _ in range(16)]
    for _ in range(alone):
        one.sendall(prompt())
        assert one.recv(1 << 16)
    with clients.held():
        for each in crowd:
            each.sendall(prompt())

    until(lambda: clients.app.at_once_of.total() + len(clients.app.got_on) == alone + 16)
    assert clients.app.at_once_of[STRANGER] == alone + 16


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


def test_long_answers_delay_no_other_request_of_the_same_client(clients: Clients) -> None:
    first, *long, last = (clients.connect(STRANGER) for _ in range(5))
    with clients.held():
        for one in long:
            one.sendall(request("/pieces"))
        for one in (first, last):
            one.sendall(request("/compute"))

    until(lambda: len(clients.app.got_on) == 3 * CROWD and len(clients.app.worked_s) == 2)
    assert max(clients.app.got_on_before) <= AHEAD


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
