"""The registry's list of 600 entries ÷ the same server answering a constant of the same size.

    python -m bench.directory [SECONDS]

One worker, run as in production over the embedded PostgreSQL. The constant is
a handler without rights, next to the others in the very same application. Figures
are answers per CPU second of the worker, read from /proc, so that the load
generator does not count; the runs alternate, so that a slow minute hits all.
Goals: the list ≥ 0.8; a 304 ≥ 0.9, both next to that
constant; a 304 next to a constant 304 is printed as well, without a goal.
"""

import asyncio
import os
import time
import uuid
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import httpx2
from litestar import Response, get
from litestar.handlers import HTTPRouteHandler
from tests.support.registry.registry_payloads import fip

from bench.sizes import argument, sized
from bench.support import (
    Load,
    RunningService,
    cpu_seconds,
    data_directory,
    database_kept_up,
    scratch,
    worker_pids,
)
from mudra.audit.event import Caller
from mudra.bootstrap import routes
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.entry_point import run
from mudra.bootstrap.node.serve import open_store
from mudra.bootstrap.routes import ServiceRoutes, service_routes
from mudra.http.route_settings import RouteSettings
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.registry.lifecycle.actor import operator
from mudra.registry.lifecycle.acts.register import submit_entry
from mudra.registry.lifecycle.decision import Decision, shown
from mudra.registry.payload.fields.url_rules import AddressPolicy
from mudra.registry.payload.validation import CheckedPayload, check_payload
from mudra.registry.payload.vocabulary import shipped_vocabulary
from mudra.registry.ports import Registry
from mudra.settings.settings import Settings
from mudra.tokens.secrets.secret_store import Secrets

ENTRIES = sized(600, 5)
OPERATOR = operator("operator:bench")
READER = "BENCH-AA"
CONNECTIONS = 8
ROUNDS = sized(3, 1)
LIST = "/cr/v2/entityInfo/FIP"
_SIZE = "BENCH_CONSTANT_BYTES"
CONSTANT, CONSTANT_304 = "/bench/constant", "/bench/constant-304"


def main() -> None:
    """Measure and print the ratios."""
    seconds = argument(1, 3.0, 0.02)
    with scratch() as folder:
        data_dir = data_directory(folder)
        started = time.monotonic()
        with database_kept_up(data_dir):
            secret, size = asyncio.run(fill(data_dir))
            print(f"{ENTRIES} entries registered in {time.monotonic() - started:.1f} s")
            with ServiceWithConstant(data_dir, size) as service:
                rates = measure(service, secret, seconds)
    whole, unchanged = rates[LIST] / rates[CONSTANT], rates["304"] / rates[CONSTANT]
    print(f"list of {ENTRIES} entries, {size} bytes: {rates[LIST]:.0f} answers per CPU second")
    print(f"constant of as many bytes: {rates[CONSTANT]:.0f}")
    print(f"304: {rates['304']:.0f}; constant 304: {rates[CONSTANT_304]:.0f}")
    print(f"list ÷ constant: {whole:.2f} (goal 0.80)")
    print(f"304 ÷ constant: {unchanged:.2f} (goal 0.90)")
    print(f"304 ÷ constant 304: {rates['304'] / rates[CONSTANT_304]:.2f}")


class ServiceWithConstant(RunningService):
    """The service with two more handlers, which answer a constant."""

    module = "bench.directory"

    def __init__(self, data_dir: Path, size: int) -> None:
        super().__init__(data_dir, "--workers", "1", **{_SIZE: str(size)})


def serve() -> None:
    """Run the mudra command with the constants among its pages."""
    size = int(os.environ[_SIZE])

    def with_constants(settings: Settings) -> ServiceRoutes:
        return service_routes(RouteSettings.of(settings), constants(size))

    with patch.object(routes, "take_routes", with_constants):
        run()


def constants(size: int) -> list[HTTPRouteHandler]:
    """Make the handlers."""
    body = b"x" * size
    headers = {
        "ETag": f'"{"0" * 64}"',
        "Cache-Control": "private, no-cache",
        "Vary": "Authorization",
        "x-jws-signature": "x" * 480,
        "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
    }

    @get(CONSTANT, include_in_schema=False)
    async def constant() -> Response[bytes]:
        return Response(body, headers=headers, media_type="application/json")

    @get(CONSTANT_304, include_in_schema=False)
    async def constant_304() -> Response[bytes]:
        return Response(b"", status_code=304, headers=headers, media_type="application/json")

    return [constant, constant_304]


def measure(service: RunningService, secret: str, seconds: float) -> dict[str, float]:
    """Give answers per CPU second of the worker, by what was asked."""
    base = f"http://127.0.0.1:{service.port}"
    answer = httpx2.post(
        f"{base}/iam/v1/entity/token/generate", data={"id": READER, "secret": secret}
    )
    bearer = f"authorization: Bearer {answer.json()['accessToken']}\r\n"
    listed = httpx2.get(base + LIST, headers={"authorization": bearer[15:].strip()})
    assert len(listed.json()) == ENTRIES, listed.text[:200]
    etag = f"if-none-match: {listed.headers['etag']}\r\n"
    ok, unchanged = b"HTTP/1.1 200", b"HTTP/1.1 304"
    loads = {
        LIST: Load(service.port, [_request(LIST, bearer)], ok),
        CONSTANT: Load(service.port, [_request(CONSTANT, bearer)], ok),
        "304": Load(service.port, [_request(LIST, bearer + etag)], unchanged),
        CONSTANT_304: Load(service.port, [_request(CONSTANT_304, bearer + etag)], unchanged),
    }
    (pid,) = worker_pids(service.pid)
    done: Counter[str] = Counter()
    used: dict[str, float] = dict.fromkeys(loads, 0.0)
    for load in loads.values():
        asyncio.run(load.run(CONNECTIONS, sized(0.5, 0.02)))  # warm
    for _ in range(ROUNDS):
        for name, load in loads.items():
            before = cpu_seconds(pid)
            done[name] += asyncio.run(load.run(CONNECTIONS, seconds))
            used[name] += cpu_seconds(pid) - before
            assert load.failed == 0, f"{load.failed} wrong answers to {name}"
    return {name: done[name] / used[name] for name in loads}


def _request(path: str, headers: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{headers}\r\n".encode()


async def fill(data_dir: Path) -> tuple[str, int]:
    """Register the entries and onboard their reader; gives its secret and the list's bytes."""
    settings = Settings(data_dir=data_dir, registry_one_operator=True)
    size = 1
    with open_store(settings, create=True) as (conninfo, encryption):
        dependencies = build_dependencies(settings, conninfo, encryption)
        async with dependencies.transaction() as tx:
            new = NewMember(READER, "AA", "Bench", "bench@bench.example")
            assert isinstance(
                await onboard_member(tx, new, owner(Caller("operator:bench"))), Onboarded
            )
            holding = await Secrets(tx).held(READER)
            assert holding is not None
            text = await Secrets(tx).text_of(holding.current)
            assert text is not None
            secret = text.reveal()
        for number in range(ENTRIES):
            payload = fip(number) | {"txnid": str(uuid.uuid4())}
            checked = check_payload(payload, AddressPolicy(), shipped_vocabulary())
            assert isinstance(checked, CheckedPayload), checked
            async with dependencies.transaction() as tx:
                outcome = await submit_entry(tx.service(Registry), checked, OPERATOR, approved=True)
            assert isinstance(outcome, Decision), outcome
            size += len(shown(outcome.after) or b"") + 1
        await dependencies.invalidation.stop()
        await dependencies.database.close()
    return secret, size


if __name__ == "__main__":
    serve() if _SIZE in os.environ else main()
