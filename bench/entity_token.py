"""Entity tokens per second of server CPU ÷ RSA-2048 signatures per second of CPU, in one run.

    python -m bench.entity_token [SECONDS]

Everything is on: HTTP, audit, throttle, log, figures. The service runs as in
production, over the embedded PostgreSQL, with 1,000 entities. CPU is that of
the worker processes, read from /proc, so that the load generator does not count.
Goals (design/quality.md part 1): ratio ≥ 0.75; two workers ≥ 0.95 of one; PSS ≤ 120 MB.
Beside it stands what a server reaches that only signs (bench/bare_server.py): how much of
the distance to the goal is the machine's, and how much is ours.
"""

import asyncio
import multiprocessing
import secrets
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import uvloop
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from bench.bare_server import bare_server
from bench.support import Load, RunningService, cpu_seconds, form_request, pss_mb, worker_pids
from mudra.audit.event import Caller
from mudra.identity.onboard import NewMember, Onboarded
from mudra.runtime.config import Settings
from mudra.runtime.onboarding import onboard
from mudra.runtime.rooms import open_rooms
from mudra.runtime.serve import open_store
from mudra.storage.cut import TRANSACTION_S

ENTITIES = 1000
CONNECTIONS = 16


def main() -> None:
    """Measure and print the ratios."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        secrets_of = make_members(data_dir)
        rates, alone = {}, {}
        for workers in (1, 2):
            rates[workers], memory, alone[workers] = measure(data_dir, workers, secrets_of, seconds)
            print(
                f"{workers} worker(s): {rates[workers]:.0f} tokens per CPU second, "
                f"RSA-2048 {alone[workers]:.0f} signatures per CPU second: "
                f"ratio {rates[workers] / alone[workers]:.2f} (goal 0.75); "
                f"PSS of a worker {memory:.0f} MB (goal 120)"
            )
        bare = {workers: measure_bare(workers, secrets_of, seconds) for workers in (1, 2)}
        (rate, signing), (rate_of_two, _) = bare[1], bare[2]
        print(
            f"a bare server that only signs: ratio {rate / signing:.2f}; "
            f"one worker ÷ bare server: {rates[1] / rate:.2f}"
        )
        print(
            f"two workers ÷ one: {rates[2] / rates[1]:.2f} (goal 0.95); of the bare server "
            f"{rate_of_two / rate:.2f}; of signing alone, two processes ÷ one: "
            f"{alone[2] / alone[1]:.2f}"
        )


def measure(
    data_dir: Path, workers: int, members: dict[str, str], seconds: float
) -> tuple[float, float, float]:
    """Give tokens per CPU second, PSS of a worker in MB, signatures per CPU second."""
    with RunningService(
        data_dir,
        "--workers",
        str(workers),
        MUDRA_ENTITY_TOKEN_RATE="100000",
        MUDRA_ENTITY_TOKEN_BURST="100000",
    ) as service:
        load = Load(service.port, requests_for(members))
        time.sleep(TRANSACTION_S)  # from now on the node believes what it keeps
        warm = 0
        while warm < 2 * workers * ENTITIES:  # every entity is in the memory of every worker
            warm += uvloop.run(load.run(CONNECTIONS * workers, 1.0))
        before_signatures = signatures_at_once(workers)
        pids = worker_pids(service.pid)
        started = sum(cpu_seconds(pid) for pid in pids)
        done = uvloop.run(load.run(CONNECTIONS * workers, seconds))
        used = sum(cpu_seconds(pid) for pid in pids) - started
        after_signatures = signatures_at_once(workers)
        assert load.failed == 0, f"{load.failed} answers were no tokens"
        memory = max(pss_mb(pid) for pid in pids)
    return done / used, memory, (before_signatures + after_signatures) / 2


def measure_bare(workers: int, members: dict[str, str], seconds: float) -> tuple[float, float]:
    """Give answers, and signatures alone, per CPU second of the server that only signs."""
    with bare_server(workers) as (port, pids):
        load = Load(port, requests_for(members))
        uvloop.run(load.run(CONNECTIONS * workers, 1.0))  # ends when all of them answer
        before = signatures_at_once(workers)
        started = sum(cpu_seconds(pid) for pid in pids)
        done = uvloop.run(load.run(CONNECTIONS * workers, seconds))
        used = sum(cpu_seconds(pid) for pid in pids) - started
        assert load.failed == 0, f"{load.failed} answers were none"
    return done / used, (before + signatures_at_once(workers)) / 2


def requests_for(members: dict[str, str]) -> list[bytes]:
    """The requests, one for each entity, ready to be sent."""
    path = "/iam/v1/entity/token/generate"
    return [
        form_request(path, id=entity_id, secret=secret) for entity_id, secret in members.items()
    ]


def signatures_at_once(processes: int) -> float:
    """What each of so many processes signs per CPU second while all do."""
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        found = list(pool.map(signatures_per_cpu_second, [1.0] * processes))
    return sum(found) / processes


def signatures_per_cpu_second(seconds: float) -> float:
    """What the machine can sign, by the library that the service uses, in so much CPU time."""
    key = rsa.generate_private_key(65537, 2048)
    message = secrets.token_bytes(600)
    started = time.process_time()
    count = 0
    while time.process_time() - started < seconds:
        for _ in range(50):
            key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        count += 50
    return count / (time.process_time() - started)


def make_members(
    data_dir: Path, number: int = ENTITIES, entity_type: str = "FIU"
) -> dict[str, str]:
    """Onboard entities through the use case and give their secrets."""
    return asyncio.run(_make_members(data_dir, number, entity_type))


async def _make_members(data_dir: Path, wanted: int, entity_type: str) -> dict[str, str]:
    settings = Settings(data_dir=data_dir)
    found: dict[str, str] = {}
    with open_store(settings, create=True) as (conninfo, seal):
        rooms = open_rooms(settings, conninfo, seal)
        for number in range(wanted):
            new = NewMember(
                f"BENCH-{number}", entity_type, f"Bench {number}", "bench@bench.example"
            )
            async with rooms.open_work() as work:
                result = await onboard(new, Caller("operator:bench"), work)
                assert isinstance(result, Onboarded), result
                holding = await work.secrets.held(new.entity_id)
                assert holding is not None
                found[new.entity_id] = (await work.secrets.text_of(holding.current)).reveal()
        await rooms.freshness.stop()
        await rooms.database.close()
    return found


if __name__ == "__main__":
    main()
