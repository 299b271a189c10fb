"""The time of a refusal, which must not show whether an account exists.

    python -m bench.sign_in_branches [SAMPLES]

Sign-ins over HTTP, the branches by lot: an invented name, a wrong and an over-long password,
an invited and a disabled account. Goals, against the invented name, on a quiet
machine with 5,000 samples of each: medians differ by less than 2 %, Welch's |t|
is below 4.5 (what dudect calls a leak). A hundredth is cut off on the slow side
of each branch first: what else runs on the machine, not what the branch does.

The one hash of each branch takes 1 MiB here, a seventieth of its cost: what surrounds it,
where a leak would be, is then most of what is measured, and 2 % are of far less. That the
hash itself is one and of one cost on every branch is shown by tests. As a
check of the measure itself, the invented name is also printed against itself.
"""

import contextlib
import os
import random
import socket
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg

from bench.people import make_people
from bench.sizes import argument
from bench.support import data_directory, form_request, scratch
from mudra.bootstrap.dependencies import build_dependencies
from mudra.bootstrap.node.heartbeat import Heartbeats, Report
from mudra.bootstrap.node.serve import open_store
from mudra.bootstrap.node.worker import run_worker
from mudra.identity.accounts import password_hash
from mudra.settings.settings import Settings
from mudra.storage.crypto.data_encryption import DataEncryption

INVENTED = "an invented name"
GUESS = "a guess that is wrong"
BRANCHES = {
    INVENTED: ("nobody@bench.example", GUESS),
    "a wrong password": ("admin0@bench.example", GUESS),
    "an invited account": ("admin1@bench.example", GUESS),
    "a disabled account": ("admin2@bench.example", GUESS),
    "an over-long password": ("admin3@bench.example", GUESS * 20),
}
KEPT = 0.99
STATES = (("invited", "admin1@bench.example"), ("disabled", "admin2@bench.example"))
MEMORY_MIB = 1


def main() -> None:
    """Measure and print each branch next to the invented name."""
    samples = int(argument(1, 200, 10))
    password_hash.MIN_MEMORY_MIB = MEMORY_MIB  # type: ignore[misc]  # no setting goes so low
    with scratch() as folder:
        settings = Settings(data_dir=data_directory(folder), argon2_memory_mib=MEMORY_MIB)
        with (
            open_store(settings, create=True) as (conninfo, encryption),
            psycopg.connect(conninfo, autocommit=True) as database,
        ):
            make_people(conninfo, encryption, settings, len(BRANCHES) - 1)
            for state, email in STATES:
                database.execute(
                    "UPDATE user_account SET state = %s WHERE email = %s", [state, email]
                )
            with worker(settings, conninfo, encryption) as port:
                took = by_lot(port, database, samples)
    load = f"load {os.getloadavg()[1]:.1f}"
    report("an invented name itself", took[INVENTED][::2], took[INVENTED][1::2], load)
    for branch in [branch for branch in BRANCHES if branch != INVENTED]:
        report(branch, took[branch], took[INVENTED], load)


@contextlib.contextmanager
def worker(settings: Settings, conninfo: str, encryption: DataEncryption) -> Iterator[int]:
    """A worker of the service as a process of its own; gives its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        held, holding = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(holding)
            with Path(os.devnull).open("w") as nowhere:  # a line for each request
                os.dup2(nowhere.fileno(), 1)
                os.dup2(nowhere.fileno(), 2)
            report = Report(os.open(os.devnull, os.O_WRONLY), Heartbeats(), 0)
            run_worker(build_dependencies(settings, conninfo, encryption), listener, held, report)
            os._exit(0)
        yield listener.getsockname()[1]
        os.close(holding)  # its lifeline: it ends
        os.waitpid(child, 0)


def report(branch: str, one: list[float], invented: list[float], load: str) -> None:
    """Print how far a branch is from the invented name."""
    one, invented = without_slowest(one), without_slowest(invented)
    apart = statistics.median(one) / statistics.median(invented) - 1
    print(
        f"{branch} next to an invented name, {len(one)} samples ({load}): medians {apart:+.2%} "
        f"apart (goal below 2 %), Welch's t {welch(one, invented):+.2f} (goal below 4.5)"
    )


def by_lot(
    port: int, database: psycopg.Connection[tuple[object, ...]], samples: int
) -> dict[str, list[float]]:
    """Seconds of each refusal, in the order of the rounds; each round holds every branch once."""
    took: dict[str, list[float]] = {branch: [] for branch in BRANCHES}
    asked = {branch: request(*who) for branch, who in BRANCHES.items()}
    database.execute("SET synchronous_commit = off")  # no wait for the disk between samples
    with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(samples):
            # Nothing was guessed before: each name fails for the first time. By lot, since an
            # address that failed in this round already costs a row more.
            database.execute("DELETE FROM throttle")
            database.execute("DELETE FROM address_failure")
            for branch in random.sample(list(BRANCHES), len(BRANCHES)):
                took[branch].append(refused(connection, asked[branch]))
    return took


def refused(connection: socket.socket, asked: bytes) -> float:
    """Seconds until a sign-in is refused."""
    began = time.perf_counter()
    connection.sendall(asked)
    answer = connection.recv(65536)
    took = time.perf_counter() - began
    assert answer.startswith(b"HTTP/1.1 401"), answer
    assert answer.endswith(b"}"), answer  # the whole of it came at once
    return took


def request(email: str, password: str) -> bytes:
    """The request of one sign-in, ready to be sent."""
    return form_request("/iam/v1/user/token/generate", username=email, password=password)


def without_slowest(times: list[float]) -> list[float]:
    """Without the slowest hundredth."""
    return sorted(times)[: int(KEPT * len(times))]


def welch(one: list[float], other: list[float]) -> float:
    """Welch's t: by how many standard errors two means differ."""
    spread = statistics.variance(one) / len(one) + statistics.variance(other) / len(other)
    return float((statistics.mean(one) - statistics.mean(other)) / spread**0.5)


if __name__ == "__main__":
    main()
