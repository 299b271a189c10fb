"""Every benchmark starts, measures and prints, in the smallest size (bench/sizes.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PRINTED = {
    "agent": "events per CPU second",
    "agent_return": "stored once each: 8 of 8",
    "directory": "304 ÷ constant 304: ",
    "entity_token": "two workers ÷ one: ",
    "guessing": "p99 of sign-ins while guesses come from closed addresses",
    "login_flood": "CPU of one user token",
    "many_nodes": "tokens for a former secret: 0",
    "pages": "slowest ÷ goal: ",
    "picture": "the same of one API: p95",
    "push": "CPU of a push / (json.loads + bare COPY): ",
    "sign_in_branches": "an over-long password beside an invented name",
    "start": "import mudra.bootstrap.node: ",
    "truth": "precision",
    "verify": "TokenVerifier.verify",
    "watch": "quiet ms",
}
"""What each prints among its last statistics."""


def test_every_benchmark_is_run_here():
    programs = {path.stem for path in ROOT.glob("bench/*.py") if "__main__" in path.read_text()}

    assert programs == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_a_benchmark_runs_in_its_short_form_and_prints_its_statistics(name: str):
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{name}"],
        check=False,
        cwd=ROOT,
        env={**os.environ, "BENCH_SHORT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert PRINTED[name] in done.stdout
