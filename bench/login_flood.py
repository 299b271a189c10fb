"""The delay of entity tokens by 50 logins at once, and user tokens next to Argon2id alone.

    python -m bench.login_flood [SECONDS]

Goals: p99 of entity tokens with the flood ÷ without ≤ 2; user tokens ÷ Argon2id alone ≥ 0.9.
The second is taken in CPU time (one hash alone ÷ one answered login, flood only), since
what else runs on a shared machine takes its share of seconds but not of CPU seconds. Both
are medians over rounds in which the two sides take turns, so that what else runs meets both.
"""

import asyncio
import statistics
import time
from contextlib import ExitStack

import argon2

from bench.entity_token import make_members, requests_for
from bench.people import PASSWORD, make_people
from bench.sizes import argument, sized
from bench.support import (
    Load,
    RunningService,
    cpu_seconds,
    data_directory,
    database_kept_up,
    form_request,
    percentile,
    scratch,
    worker_pids,
)
from mudra.bootstrap.node.serve import open_store
from mudra.identity.accounts.password_hash import TIME_COST
from mudra.settings.settings import Settings

LOGINS_AT_ONCE = sized(50, 2)
TOKEN_CONNECTIONS = 4
ROUNDS = sized(5, 1)
HASHES = sized(10, 1)
MIB = sized(1024, 54)
"""In KiB; in a run of the smallest size passwords are hashed cheaply, and few sign in."""
VARIABLES = {"MUDRA_ENTITY_TOKEN_RATE": "100000+100000"}


def main() -> None:
    """Measure and print the ratios."""
    seconds = argument(1, 4.0, 0.02)
    with scratch() as folder, ExitStack() as stack:
        data_dir = data_directory(folder)
        stack.enter_context(database_kept_up(data_dir))
        members = make_members(data_dir)
        settings = Settings(data_dir=data_dir)
        with open_store(settings, create=False) as (conninfo, encryption):
            people = make_people(conninfo, encryption, settings, LOGINS_AT_ONCE)
        with RunningService(data_dir, "--workers", "1", **VARIABLES) as service:
            tokens = Load(service.port, requests_for(members))
            logins = Load(service.port, [login_request(email) for email in people.values()])
            asyncio.run(tokens.run(TOKEN_CONNECTIONS, sized(2.0, 0.02)))
            waits = [both_ways(tokens, logins, seconds) for _ in range(ROUNDS)]
            assert tokens.failed == 0, f"{tokens.failed} answers were no tokens"
            costs = [
                (cpu_per_hash(), cpu_per_login(service.pid, logins, seconds)) for _ in range(ROUNDS)
            ]
        calm, flooded = (statistics.median(side) * 1000 for side in zip(*waits, strict=True))
        ratio = statistics.median(with_flood / without for without, with_flood in waits)
        print(
            f"entity tokens, p99: {calm:.1f} ms alone, {flooded:.1f} ms while "
            f"{LOGINS_AT_ONCE} log in: ratio {ratio:.2f} (goal at most 2)"
        )
        alone, cost = (statistics.median(side) * 1000 for side in zip(*costs, strict=True))
        ratio = statistics.median(hash_alone / login for hash_alone, login in costs)
        print(
            f"CPU of one user token {cost:.1f} ms, of one Argon2id alone {alone:.1f} ms: "
            f"ratio {ratio:.2f} (goal 0.9)"
        )


def both_ways(tokens: Load, logins: Load, seconds: float) -> tuple[float, float]:
    """Seconds that the slowest of 100 tokens took, without the flood and with it."""
    asyncio.run(tokens.run(TOKEN_CONNECTIONS, seconds))
    calm = percentile(tokens.latencies, 0.99)
    asyncio.run(both(tokens, logins, seconds))
    return calm, percentile(tokens.latencies, 0.99)


async def both(tokens: Load, logins: Load, seconds: float) -> None:
    """Flood and ask for tokens at the same time."""
    await asyncio.gather(
        logins.run(LOGINS_AT_ONCE, seconds), tokens.run(TOKEN_CONNECTIONS, seconds)
    )


def cpu_per_login(service: int, logins: Load, seconds: float) -> float:
    """CPU seconds of the worker for each login that was answered with a token."""
    (pid,) = worker_pids(service)
    logins.failed = 0
    before = cpu_seconds(pid)
    answered = asyncio.run(logins.run(2, seconds))
    used = cpu_seconds(pid) - before
    assert answered > logins.failed, "no login came through"
    return used / (answered - logins.failed)


def cpu_per_hash() -> float:
    """CPU seconds of one hash with the parameters of the service, the mean of some."""
    hasher = argon2.PasswordHasher(
        time_cost=TIME_COST, memory_cost=Settings().argon2_memory_mib * MIB, parallelism=1
    )
    stored = hasher.hash(PASSWORD)
    found = []
    for _ in range(HASHES):
        before = time.process_time()
        hasher.verify(stored, PASSWORD)
        found.append(time.process_time() - before)
    return sum(found) / len(found)


def login_request(email: str) -> bytes:
    """The request of one login, ready to be sent."""
    return form_request("/iam/v1/user/token/generate", username=email, password=PASSWORD)


if __name__ == "__main__":
    main()
