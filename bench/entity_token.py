"""Entity tokens per second of server CPU ÷ RSA-2048 signatures per second of CPU, in one run.

    python -m bench.entity_token [SECONDS]

Everything is on: HTTP, audit, throttle, log, figures. The service runs as in
production, over the embedded PostgreSQL, with 1,000 entities. CPU is that of
the worker processes, read from /proc, so that the load generator does not count.
Goals: ratio ≥ 0.75; two workers ≥ 0.95 of one; PSS ≤ 120 MB.
Next to it is what a server reaches that only signs (bench/bare_server.py): how much of
the distance to the goal is the machine's, and how much is ours.
"""

import asyncio
import itertools
import multiprocessing
import secrets
import statistics
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import uvloop
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding
from tests.http.server.trace_collector import trace_collector

from bench.bare_server import bare_server, signing_key
from bench.sizes import argument, sized
from bench.support import (
    Load,
    RunningService,
    cpu_seconds,
    data_directory,
    database_kept_up,
    form_request,
    pss_mb,
    scratch,
    worker_pids,
)
from mudra.audit.event import Caller
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.serve import open_store
from mudra.identity.memberships.onboard import NewMember, Onboarded, onboard_member
from mudra.identity.operators.person_rule import owner
from mudra.settings.settings import Settings
from mudra.storage.database.deadline import TRANSACTION_S
from mudra.tokens.secrets.secret_store import Secrets

ENTITIES = sized(1000, 5)
CONNECTIONS = 16
ROUNDS = sized(6, 1)
SIGNED_AT_ONCE = sized(50, 5)


class Run(NamedTuple):
    """The work of one server, medians of its rounds: tokens and signatures per CPU second."""

    rate: float
    signing: float
    ratios: list[float]
    """Of each round, sorted."""

    @property
    def ratio(self) -> float:
        """Tokens ÷ signatures of the same seconds."""
        return statistics.median(self.ratios)


def main() -> None:
    """Measure and print the ratios."""
    seconds = argument(1, 12.0, 0.02)
    with scratch() as folder, ExitStack() as stack:
        data_dir = data_directory(folder)
        stack.enter_context(database_kept_up(data_dir))
        secrets_of = make_members(data_dir)
        runs = {}
        for workers in (1, 2):
            run, memory = measure(data_dir, workers, secrets_of, seconds)
            runs[workers] = run
            print(
                f"{workers} worker(s): {run.rate:.0f} tokens per CPU second, "
                f"RSA-2048 {run.signing:.0f} signatures per CPU second: ratio {run.ratio:.2f}, "
                f"{run.ratios[0]:.2f} to {run.ratios[-1]:.2f} in {ROUNDS} rounds (goal 0.75); "
                f"PSS of a worker {memory:.0f} MB (goal 120)"
            )
        print_cost_of_traces(data_dir, secrets_of, seconds, runs[1])
        bare = {workers: measure_bare(workers, secrets_of, seconds) for workers in (1, 2)}
        one, two = runs[1], runs[2]
        print(
            f"a bare server that only signs: ratio {bare[1].ratio:.2f}; "
            f"one worker ÷ bare server: {one.ratio / bare[1].ratio:.2f}"
        )
        print(
            f"two workers ÷ one: {two.rate / one.rate:.2f} (goal 0.95); of the bare server "
            f"{bare[2].rate / bare[1].rate:.2f}; of signing alone, two processes ÷ one: "
            f"{two.signing / one.signing:.2f}"
        )


def print_cost_of_traces(
    data_dir: Path, members: dict[str, str], seconds: float, untraced: Run
) -> None:
    """Print what traces cost one worker, with all requests traced and with one in a hundred."""
    with trace_collector() as collector:
        for share in sized(("1", "0.01"), ("1",)):
            traces = {"MUDRA_OTLP_URL": collector.url, "MUDRA_TRACE_SHARE": share}
            run, _ = measure(data_dir, 1, members, seconds, **traces)
            print(f"tokens with {share} of them traced ÷ without: {run.ratio / untraced.ratio:.2f}")


def measure(
    data_dir: Path, workers: int, members: dict[str, str], seconds: float, **settings: str
) -> tuple[Run, float]:
    """Run the service under load; gives the PSS of a worker in MB as well."""
    with RunningService(
        data_dir,
        "--workers",
        str(workers),
        **settings,
        MUDRA_ENTITY_TOKEN_RATE="100000+100000",
    ) as service:
        load = Load(service.port, requests_for(members))
        time.sleep(sized(TRANSACTION_S, 0.0))  # from now on the node believes what it keeps
        warm = 0
        while warm < 2 * workers * ENTITIES:  # every entity is in the memory of every worker
            warm += uvloop.run(load.run(CONNECTIONS * workers, sized(1.0, 0.02)))
        pids = worker_pids(service.pid, workers)
        run = rounds(load, pids, seconds)
        return run, max(pss_mb(pid) for pid in pids)


def measure_bare(workers: int, members: dict[str, str], seconds: float) -> Run:
    """Run the server that only signs under the same load."""
    with bare_server(workers) as (port, pids):
        load = Load(port, requests_for(members))
        uvloop.run(
            load.run(CONNECTIONS * workers, sized(1.0, 0.02))
        )  # ends when all of them answer
        return rounds(load, pids, seconds)


def rounds(load: Load, pids: list[int], seconds: float) -> Run:
    """Load and signing in turns: what else the machine does comes and goes within seconds."""
    rates, signing = [], [signatures_at_once(len(pids))]
    for _ in range(ROUNDS):
        started = sum(cpu_seconds(pid) for pid in pids)
        done = uvloop.run(load.run(CONNECTIONS * len(pids), seconds / ROUNDS))
        rates.append(done / (sum(cpu_seconds(pid) for pid in pids) - started))
        signing.append(signatures_at_once(len(pids)))
    assert load.failed == 0, f"{load.failed} answers were no tokens"
    alongside = [(before + after) / 2 for before, after in itertools.pairwise(signing)]
    ratios = sorted(rate / alone for rate, alone in zip(rates, alongside, strict=True))
    return Run(statistics.median(rates), statistics.median(alongside), ratios)


def requests_for(members: dict[str, str]) -> list[bytes]:
    """The requests, one for each entity, ready to be sent."""
    path = "/iam/v1/entity/token/generate"
    return [
        form_request(path, id=entity_id, secret=secret) for entity_id, secret in members.items()
    ]


def signatures_at_once(processes: int) -> float:
    """The signatures of each of so many processes per CPU second while all sign."""
    signing_key()  # made before the fork: no process makes one of its own
    with ProcessPoolExecutor(processes, multiprocessing.get_context("fork")) as pool:
        found = list(pool.map(signatures_per_cpu_second, [sized(0.5, 0.005)] * processes))
    return sum(found) / processes


def signatures_per_cpu_second(seconds: float) -> float:
    """The signatures that the machine makes by the service's library in so much CPU time."""
    key = signing_key()
    message = secrets.token_bytes(600)
    started = time.process_time()
    count = 0
    while time.process_time() - started < seconds:
        for _ in range(SIGNED_AT_ONCE):
            key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        count += SIGNED_AT_ONCE
    return count / (time.process_time() - started)


def make_members(
    data_dir: Path, number: int = ENTITIES, entity_type: str = "FIU"
) -> dict[str, str]:
    """Onboard entities through the use case and give their secrets."""
    return asyncio.run(_make_members(data_dir, number, entity_type))


async def _make_members(data_dir: Path, wanted: int, entity_type: str) -> dict[str, str]:
    settings = Settings(data_dir=data_dir)
    found: dict[str, str] = {}
    with open_store(settings, create=True) as (conninfo, encryption):
        dependencies = build_dependencies(settings, conninfo, encryption)
        for number in range(wanted):
            new = NewMember(
                f"BENCH-{number}", entity_type, f"Bench {number}", "bench@bench.example"
            )
            async with dependencies.transaction() as tx:
                result = await onboard_member(tx, new, owner(Caller("operator:bench")))
                assert isinstance(result, Onboarded), result
                holding = await Secrets(tx).held(new.entity_id)
                assert holding is not None
                text = await Secrets(tx).text_of(holding.current)
                assert text is not None
                found[new.entity_id] = text.reveal()
        await dependencies.invalidation.stop()
        await dependencies.database.close()
    return found


if __name__ == "__main__":
    main()
