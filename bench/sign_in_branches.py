"""Whether the time of a refusal tells an account that exists from one that does not (quality A6).

    python -m bench.sign_in_branches [SAMPLES]

Sign-ins over HTTP, the branches in turn: an invented name, a wrong password, an
invited and a disabled account. Goals, against the invented name, on a quiet
machine with 5,000 samples of each: medians differ by less than 2 %, Welch's |t|
is below 4.5 (what dudect calls a leak). A hundredth is cut off on the slow side
of each branch first: what else runs on the machine, not what the branch does.
"""

import http.client
import statistics
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import psycopg

from bench.people import make_people
from bench.support import RunningService
from mudra.runtime.config import Settings
from mudra.runtime.serve import open_store

BRANCHES = {
    "an invented name": "nobody@bench.example",
    "a wrong password": "admin0@bench.example",
    "an invited account": "admin1@bench.example",
    "a disabled account": "admin2@bench.example",
}
KEPT = 0.99
STATES = (("invited", "admin1@bench.example"), ("disabled", "admin2@bench.example"))


def main() -> None:
    """Measure and print each branch beside the invented name."""
    samples = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as folder:
        data_dir = Path(folder) / "data"
        with (
            open_store(Settings(data_dir=data_dir), create=True) as (conninfo, seal),
            psycopg.connect(conninfo, autocommit=True) as database,
        ):
            make_people(conninfo, seal, data_dir, len(BRANCHES) - 1)
            for state, email in STATES:
                database.execute(
                    "UPDATE user_account SET state = %s WHERE email = %s", [state, email]
                )
            with RunningService(data_dir, "--workers", "1") as service:
                took = in_turns(service.port, database, samples)
    invented = took.pop("an invented name")
    for branch, times in took.items():
        apart = statistics.median(times) / statistics.median(invented) - 1
        print(
            f"{branch} beside an invented name, {samples} of each: medians "
            f"{apart:+.2%} apart (goal below 2 %), Welch's t {welch(times, invented):+.2f} "
            "(goal below 4.5)"
        )


def in_turns(
    port: int, database: psycopg.Connection[tuple[object, ...]], samples: int
) -> dict[str, list[float]]:
    """Seconds of each refusal, without the slowest hundredth of a branch."""
    took: dict[str, list[float]] = {branch: [] for branch in BRANCHES}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    for _ in range(samples):
        for branch, email in BRANCHES.items():
            # Nothing was guessed before: each is the first failure of its name and address.
            database.execute("TRUNCATE throttle, address_failure")
            took[branch].append(refused(connection, email))
    return {branch: sorted(times)[: int(KEPT * samples)] for branch, times in took.items()}


def refused(connection: http.client.HTTPConnection, email: str) -> float:
    """Seconds until a sign-in is refused."""
    body = urllib.parse.urlencode({"username": email, "password": "a guess that is wrong"})
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    began = time.perf_counter()
    connection.request("POST", "/iam/v1/user/token/generate", body, headers)
    answer = connection.getresponse()
    answer.read()
    took = time.perf_counter() - began
    assert answer.status == http.client.UNAUTHORIZED, answer.status
    return took


def welch(one: list[float], other: list[float]) -> float:
    """Welch's t: by how many standard errors two means differ."""
    spread = statistics.variance(one) / len(one) + statistics.variance(other) / len(other)
    return float((statistics.mean(one) - statistics.mean(other)) / spread**0.5)


if __name__ == "__main__":
    main()
