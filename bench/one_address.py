"""bench/one_address: what 200 connections of one address do to everyone else, route by route.

    python -m bench.one_address [SECONDS] [WORD …]

Each route of the console, the public pages and the published document (those with one of the
WORDs in their name) is asked for by 200 connections of one address for SECONDS (0.6): by
strangers, by a signed-in person, and by callers with a token or a secret. Meanwhile another
address asks for entity tokens over a kept connection and over new ones, and for `/readyz`.
Printed is what that other one waited, with one worker and with two. A route that misses a goal is
asked for again, for five times as long: of few requests one late one is the 99th percentile.

On a machine that others use too, waits say what those do. `ONE_ADDRESS_CLOCK=processor` counts in
place of time what the threads of the busiest worker used of the processors meanwhile: at most what
one would wait for it with processors of its own; what the database and the crowd take is not in
it, what that worker does for the crowd while the database has no turn is. `EVERY=n` takes each
n-th route, `WORKERS=n` leaves it at that number of workers.

Goals: p50 of a token at most 10 ms and p99 at most 50 ms, over kept and over new connections;
`/readyz` at most 0.3 s; each times the slowness of this machine (`bench/machine.py`).
"""

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Final, NamedTuple

import httpx2
import uvloop
from litestar.routes import HTTPRoute
from tests.support.hostile.crowd import crowd
from tools.demonstration import ADMINS, OPERATOR, Demonstration, demonstration, user_token

from bench.machine import slowness, speed_note
from bench.ratios import ENDLESS, PLACES, bearer, calls, pages, signed_in
from bench.sizes import argument, exit_code, sized
from bench.support import data_directory, form_request, percentile, scratch
from mudra.bootstrap.routes import service_routes
from mudra.http.route_settings import RouteSettings
from mudra.settings.settings import Settings

CONNECTIONS: Final = sized(200, 8)
WORKERS: Final = [int(one) for one in os.environ.get("WORKERS", sized("1 2", "1")).split()]
OTHER: Final = "127.0.0.2"
TOKEN_P50_S, TOKEN_P99_S, READY_S = 0.010, 0.050, 0.3
TOKEN: Final = "/iam/v1/entity/token/generate"
_BY_PROCESSOR: Final = os.environ.get("ONE_ADDRESS_CLOCK", "") == "processor"
_EVERY: Final = int(os.environ.get("EVERY", "") or sized(1, 40))
_KEPT_S, _NEW_S, _READY_S = 0.02, 0.05, 0.1
"""Between two requests of each kind."""


class Attack(NamedTuple):
    """A request that the crowd sends."""

    name: str
    request: bytes


@dataclass
class Waits:
    """Seconds that the other address waited."""

    kept: list[float] = field(default_factory=list)
    new: list[float] = field(default_factory=list)
    ready: list[float] = field(default_factory=list)

    def meets(self, times: float) -> bool:
        """Returns true if every goal is met on a machine that is so many times as slow."""
        tokens = (self.kept, self.new)
        return (
            all(percentile(one, 0.5) <= TOKEN_P50_S * times for one in tokens)
            and all(percentile(one, 0.99) <= TOKEN_P99_S * times for one in tokens)
            and percentile(self.ready, 0.5) <= READY_S * times
        )

    def __str__(self) -> str:
        shown = [
            f"{name} p50 {percentile(waits, 0.5) * 1000:.1f}"
            f" p99 {percentile(waits, 0.99) * 1000:.0f} max {max(waits) * 1000:.0f}"
            for name, waits in (("kept", self.kept), ("new", self.new), ("readyz", self.ready))
        ]
        return ", ".join(shown)


def request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    """A request over a connection that stays open."""
    lines = {"host": "127.0.0.1", **headers}
    if method != "GET":
        lines["content-length"] = str(len(body))
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def by_strangers() -> Iterator[Attack]:
    """Every route and method of the service, without any credential."""
    settings = RouteSettings.of(Settings(sandbox=True))
    for route in service_routes(settings).routes.litestar.routes:
        if not isinstance(route, HTTPRoute) or route.path.endswith(ENDLESS):
            continue
        path = re.sub(r"\{(\w+)(?::\w+)?\}", lambda at: PLACES.get(at[1], "x"), route.path)
        methods = {str(m) for handler in route.route_handlers for m in handler.http_methods}
        for method in sorted(methods - {"HEAD", "OPTIONS"}):
            form = {"content-type": "application/x-www-form-urlencoded"}
            headers, body = (form, b"id=x&secret=y") if method != "GET" else ({}, b"")
            yield Attack(f"{method} {route.path}", request(method, path, headers, body))


def by_people(network: Demonstration) -> Iterator[Attack]:
    """Every page of the signed-in, every call that reads, and every form that lacks its word."""
    for asked in pages(network):
        if asked.headers:
            yield Attack(f"page {asked.name}", request("GET", asked.path, asked.headers))
    for asked in calls(network):
        yield Attack(f"with a token {asked.name}", request("GET", asked.path, asked.headers))
    cookie = {"cookie": signed_in(network.root, OPERATOR)}
    form = {"content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin"}
    for attack in by_strangers():
        method, _, path = attack.name.partition(" ")
        if method == "POST" and path.startswith("/console"):
            filled = re.sub(r"\{(\w+)(?::\w+)?\}", lambda at: PLACES.get(at[1], "x"), path)
            sent = request(method, filled, cookie | form, b"csrf_token=x")
            yield Attack(f"signed in {attack.name}", sent)


def with_a_secret(secrets: dict[str, str]) -> Attack:
    """A member that asks for its own token, over and over."""
    entity_id, secret = next(iter(secrets.items()))
    return Attack("with its secret, a token", form_request(TOKEN, id=entity_id, secret=secret))


def secrets_of(root: str) -> dict[str, str]:
    """The members that ask for tokens meanwhile."""
    found = {}
    with httpx2.Client(base_url=root, timeout=60) as client:
        for entity_id, email in ADMINS.items():
            headers = bearer(user_token(root, email))
            read = client.post(
                "/iam/v1/entity/secret/read", json={"entityId": entity_id}, headers=headers
            )
            found[entity_id] = str(read.raise_for_status().json()["secret"])
    return found


Clock = Callable[[], tuple[float, ...]]
"""Seconds, of each that may be waited for."""


def clock_of_time() -> tuple[float, ...]:
    """Return the seconds of a clock that is never set."""
    return (time.monotonic(),)


def clock_of_workers() -> Clock:
    """Seconds that all threads of each worker below this process have had of the processors."""
    workers = [one for one in _below(os.getpid()) if b"serve: worker-" in _title(one)]

    def used(worker: int) -> float:
        total = 0
        for thread in Path(f"/proc/{worker}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread has ended
                total += int((thread / "schedstat").read_text().split()[0])
        return total / 1e9

    return lambda: tuple(map(used, workers))


def _below(pid: int) -> Iterator[int]:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        for child in (thread / "children").read_text().split():
            yield int(child)
            yield from _below(int(child))


def _title(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


class Other:
    """Everyone else: asks for tokens and readiness from an address of its own."""

    def __init__(self, port: int, secrets: dict[str, str], clock: Clock = clock_of_time) -> None:
        self._port = port
        self._clock = clock
        self._requests = cycle(form_request(TOKEN, id=i, secret=s) for i, s in secrets.items())

    async def wait(self, seconds: float) -> Waits:
        """Ask for so long."""
        waits, until = Waits(), time.monotonic() + seconds
        await asyncio.gather(
            self._kept(waits.kept, until),
            self._again(waits.new, until, _NEW_S, lambda: next(self._requests)),
            self._again(waits.ready, until, _READY_S, lambda: request("GET", "/readyz", {})),
        )
        return waits

    async def _kept(self, waits: list[float], until: float) -> None:
        reader, writer = await self._connect()
        while not waits or time.monotonic() < until:
            began = self._clock()
            await _asked(reader, writer, next(self._requests))
            waits.append(self._since(began))
            await asyncio.sleep(_KEPT_S)
        writer.close()

    async def _again(
        self, waits: list[float], until: float, pause_s: float, make: Callable[[], bytes]
    ) -> None:
        while not waits or time.monotonic() < until:
            began = self._clock()
            reader, writer = await self._connect()
            await _asked(reader, writer, make())
            waits.append(self._since(began))
            writer.close()
            await asyncio.sleep(pause_s)

    def _since(self, began: tuple[float, ...]) -> float:
        return max(now - then for now, then in zip(self._clock(), began, strict=True))

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self._port, local_addr=(OTHER, 0))


async def _asked(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, sent: bytes) -> None:
    writer.write(sent)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    assert head.startswith(b"http/1.1 200"), head
    length = head.partition(b"content-length: ")[2].partition(b"\r\n")[0]
    await reader.readexactly(int(length))


def measure(network: Demonstration, seconds: float, words: list[str], times: float) -> int:
    """Attack each route and print what the others waited; returns the number of missed goals."""
    port = int(network.root.rpartition(":")[2])
    secrets = secrets_of(network.root)
    other = Other(port, secrets, clock_of_workers() if _BY_PROCESSOR else clock_of_time)
    attacks = [*by_strangers(), *by_people(network), with_a_secret(secrets)]
    chosen = [one for one in attacks if not words or any(word in one.name for word in words)]
    chosen = chosen[::_EVERY]
    print(f"at rest: {uvloop.run(other.wait(5 * seconds))}", flush=True)
    missed = 0
    with crowd(port, CONNECTIONS) as running:
        for attack in chosen:
            running.send(attack.request)
            waits = uvloop.run(other.wait(seconds))
            if not waits.meets(times):
                waits = uvloop.run(other.wait(5 * seconds))
            met = waits.meets(times)
            missed += not met
            print(f"{'met' if met else 'MISSED'}: {attack.name}: {waits}", flush=True)
    print(f"{len(chosen)} routes, goals missed: {missed}", flush=True)
    return missed


def main() -> int:
    """Measure with one worker and with two; 1 when a goal is missed."""
    seconds, words = argument(1, 0.6, 0.1), sys.argv[2:]
    times = slowness()
    print(speed_note(times))
    missed = 0
    for workers in WORKERS:
        os.environ["MUDRA_WORKERS"] = str(workers)
        with scratch() as folder:
            data_dir = data_directory(folder)
            with demonstration(data_dir.parent, sized(0.25, 0.1), settled=False) as network:
                print(f"{workers} worker(s), {CONNECTIONS} connections of one address")
                missed += measure(network, seconds, words, times)
    return exit_code(met=not missed)


if __name__ == "__main__":
    raise SystemExit(main())
