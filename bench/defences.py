"""The cost of each defence next to what it protects, in CPU of one process.

    python -m bench.defences

No defence can be turned off in the service, so each is timed alone: with it and without it in
turns, medians of rounds. Tokens are compared with one RSA-2048 signature, which bench/entity_token
says is most of a token; pushes with `json.loads` of the same 480 KB, as bench/push does.
"""

import asyncio
import gc
import gzip
import json
import os
import pickle
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Final

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from tests.support.metrics.metrics_payloads import request_metrics
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from bench.push import widened
from bench.sizes import sized
from bench.support import cpu_of_tree, data_directory, scratch
from mudra.audit.audit_log_store import ANONYMOUS, AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.audit.token_issues import TokenIssue, pack
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.bootstrap.observability.loop_watch import RequestMetrics
from mudra.bootstrap.separate_process.push_check import check_whole
from mudra.http.request.body.strict_json import parse_json
from mudra.metrics.payload.plausibility import ReportedVolume, doubt_time, doubt_volume
from mudra.server_protocol.body_reader import PackedBody
from mudra.server_protocol.client_turns import ClientTurns
from mudra.server_protocol.connection_limits import ConnectionLimits, OpenConnections
from mudra.server_protocol.decompression import Gzip
from mudra.server_protocol.limited_protocol import LimitedProtocol, ProtocolContext
from mudra.settings.settings import Settings
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.storage.caching.without_database import WithoutDatabase
from mudra.storage.database.clock_watch import ClockWatch

ROUNDS: Final = sized(15, 2)
CALLS: Final = sized(2000, 50)
START: Final = datetime(2026, 3, 4, 10, 20, tzinfo=UTC)
NOW: Final = START + timedelta(minutes=11)
LIMIT: Final = 8 * 1024 * 1024
REQUEST: Final = (
    b"POST /iam/v1/entity/token/generate HTTP/1.1\r\nHost: iam.example\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 4\r\n\r\na=bc"
)
Act = Callable[[], object]


def micros(act: Act, calls: int) -> float:
    """CPU of one call in microseconds."""
    began = time.process_time()
    for _ in range(calls):
        act()
    return (time.process_time() - began) / calls * 1e6


def paired(acts: dict[str, tuple[Act, int]]) -> dict[str, float]:
    """Medians of rounds in which all take turns."""
    found: dict[str, list[float]] = {name: [] for name in acts}
    gc.disable()
    for _ in range(ROUNDS):
        for name, (act, calls) in acts.items():
            found[name].append(micros(act, calls))
        gc.collect()
    gc.enable()
    return {name: statistics.median(times) for name, times in found.items()}


class _Transport(asyncio.Transport):
    """Takes what is written, and is no socket."""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Drop it."""

    def is_closing(self) -> bool:
        """Stays open."""
        return False

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return the addresses."""
        return {"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)}.get(name, default)

    def close(self) -> None:
        """Stays open."""


class _Limited(LimitedProtocol):
    shared = ProtocolContext(
        limits=ConnectionLimits(),
        clock=lambda: NOW,
        open_connections=OpenConnections(ConnectionLimits()),
        turns=ClientTurns(),
        stopping=lambda: False,
    )


def connection(kind: type[HttpToolsProtocol], loop: asyncio.AbstractEventLoop) -> Act:
    """A connection that answers each request with two bytes."""

    async def app(_scope: object, _receive: object, send: Callable[[object], object]) -> None:
        start = {
            "type": "http.response.start",
            "status": 200,
            "headers": [(b"content-length", b"2")],
        }
        await send(start)  # type: ignore[misc]  # of no matter here
        await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[misc]

    config = Config(app, log_config=None, access_log=False)
    config.load()
    protocol = kind(config, ServerState(), {}, loop)
    protocol.connection_made(_Transport())

    async def one() -> None:
        protocol.data_received(REQUEST)
        for _ in range(3):
            await asyncio.sleep(0)

    return lambda: loop.run_until_complete(one())


def of_tokens(loop: asyncio.AbstractEventLoop) -> dict[str, tuple[Act, int]]:
    """The defences that a token passes."""
    key = rsa.generate_private_key(65537, 2048)
    limit = KeyedRateLimit(1e9, 10**9, time.monotonic)
    figures = RequestMetrics(ClockWatch(lambda: NOW), WithoutDatabase(0))
    numbers = count()
    issues = [
        TokenIssue(
            n, NOW, f"FIP-{n % 600}", "10.0.0.1", str(uuid.uuid4()), "", 1, (str(uuid.uuid4()),)
        )
        for n in range(500)
    ]
    return {
        "signature": (
            lambda: key.sign(b"a" * 600, padding.PKCS1v15(), hashes.SHA256()),
            CALLS // 10,
        ),
        "limit of entity and address": (
            lambda: limit.wait_s(f"FIP-{next(numbers) % 600}\0::1"),
            CALLS,
        ),
        "metric under its route": (lambda: figures.note("/iam/v1/entity", "POST", 200, 0.1), CALLS),
        "packed audit of 500 tokens": (lambda: pack(1, issues), 3),
        "plain connection": (connection(HttpToolsProtocol, loop), CALLS // 4),
        "limited connection": (connection(_Limited, loop), CALLS // 4),
    }


def of_pushes() -> dict[str, tuple[Act, int]]:
    """The defences that a push passes."""
    report = widened(request_metrics(sized(200, 20), "AA-1", str(uuid.uuid4()), START, 1), 1)
    body = msgspec.json.encode(report)
    packed = PackedBody(body, "")
    verdict = check_whole(packed, NOW, walk=True)
    zipped = gzip.compress(body)
    volume = ReportedVolume(100, 10**15, 0, 0)

    def bounded() -> object:
        unpacker = Gzip(LIMIT)
        unpacker.take(zipped)
        return unpacker.whole()

    def apart() -> object:
        sent = pickle.loads(pickle.dumps((packed, NOW)))  # our own bytes
        answer = pickle.loads(pickle.dumps(verdict))  # our own bytes
        return sent, answer

    small = json.dumps({"username": "a@bank.example", "password": "x" * 40}).encode()
    return {
        "json.loads": (lambda: json.loads(body), 10),
        "whole check": (lambda: check_whole(packed, NOW, walk=True), 10),
        "to another process and back": (apart, 10),
        "plausibility": (lambda: (doubt_time(1), doubt_volume(10**6, volume)), CALLS),
        "gzip, plain": (lambda: gzip.decompress(zipped), 10),
        "gzip, bounded": (bounded, 10),
        "json.loads of a sign-in": (lambda: json.loads(small), CALLS),
        "strict reading of a sign-in": (lambda: parse_json(small), CALLS),
    }


def shares(found: dict[str, float]) -> Iterator[tuple[str, float, str]]:
    """Each defence, its CPU in microseconds, and its share."""
    signature, read = found["signature"], found["json.loads"]
    framing = found["limited connection"] - found["plain connection"]
    packing = found["packed audit of 500 tokens"] / 500
    unpacking = found["gzip, bounded"] - found["gzip, plain"]
    strict = found["strict reading of a sign-in"] - found["json.loads of a sign-in"]
    of_token, of_push = "of a token's signature", "of json.loads of the push"
    limits = found["limit of entity and address"]
    for name, cost, base, words in (
        ("limits of connection, header and framing", framing, signature, of_token),
        ("limit of an entity and address", limits, signature, of_token),
        (
            "metric under a route of a closed set",
            found["metric under its route"],
            signature,
            of_token,
        ),
        ("audit of a token, packed", packing, signature, of_token),
        ("body checked in another process", found["to another process and back"], read, of_push),
        ("bounded unpacking", unpacking, read, of_push),
        ("implausible volume", found["plausibility"], read, of_push),
        ("strict reading of a small body", strict, signature, of_token),
    ):
        yield name, cost, f"{cost / base:.3f} {words}"


async def refusals(folder: str) -> tuple[float, float]:
    """Refusals in the audit, CPU of service and database in µs: counted, and as a row each."""
    settings = Settings(data_dir=data_directory(folder))
    number = sized(200, 5)
    counted = AuditEntry(
        EventName.USER_SIGN_IN_REFUSE, Caller(ANONYMOUS, "203.0.113.7"), outcome=Outcome.REFUSED
    )
    kept = msgspec.structs.replace(counted, entity_id="BENCH-1")
    found: dict[str, list[float]] = {"": [], "BENCH-1": []}
    with open_store(settings, create=True) as (conninfo, encryption):
        dependencies = build_dependencies(settings, conninfo, encryption)
        for _ in range(sized(6, 2)):
            for entry in (counted, kept):
                began = _cpu_with_children()
                for _ in range(number):
                    async with dependencies.transaction() as tx:
                        await AuditLog(tx).append(entry)
                found[entry.entity_id].append((_cpu_with_children() - began) / number * 1e6)
        await dependencies.invalidation.stop()
        await dependencies.database.close()
    return statistics.median(found[""]), statistics.median(found["BENCH-1"])


def _cpu_with_children() -> float:
    return cpu_of_tree(os.getpid())


def main() -> None:
    """Measure and print."""
    loop = asyncio.new_event_loop()
    found = paired({**of_tokens(loop), **of_pushes()})
    loop.close()
    for name, cost in found.items():
        print(f"{name:42} {cost:10.1f} µs")
    print()
    for name, cost, share in shares(found):
        print(f"{name:42} {cost:8.1f} µs  {share}")
    with scratch() as folder:
        counted, kept = asyncio.run(refusals(folder))
    words = f"{counted / kept:.2f} of a row each"
    print(f"{'refusal of a stranger, counted':42} {counted:8.1f} µs  {words}")


if __name__ == "__main__":
    main()
