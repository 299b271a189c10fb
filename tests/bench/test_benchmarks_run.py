"""Every benchmark starts, measures and prints, in the smallest size (bench/sizes.py).

All but two wait for `make test-slow`: they measure, and prove no behavior that another test does not.
With every change mypy checks that they fit what they call.
"""

import os
from pathlib import Path
from threading import Timer

import pytest
from tests.support.preloaded_program import ForkedProgram
from tests.support.until import PATIENCE_S

ROOT = Path(__file__).parents[2]
PRINTED = {
    "agent": "events per CPU second",
    "agent_return": "stored once each: 4 of 4",
    "alerts": "alerts broken for real: 1; ",
    "blocks": "every goal of blocks met: ",
    "defences": "refusal of a stranger, counted",
    "directory": "304 ÷ constant 304: ",
    "eight_tasks": "every goal of the eight tasks met at 390 px: ",
    "entity_token": "two workers ÷ one: ",
    "estimates": "every goal of ordinary services met: ",
    "faults": "lost or doubled: 0 ",
    "feed": "GOOD again after",
    "guessing": "p99 of sign-ins while guesses come from closed addresses",
    "hostile": "/v1/entity/token/generate, ",
    "full_traffic": "every goal met: ",
    "idle": "workers at rest: ",
    "kills": "kinds with a loss or a double: 0; kinds with kills missing: 0",
    "level_year": "passed",
    "level_reports": "CPU of the month's reports of 2,000 members ÷ goal of 60 s: ",
    "login_flood": "CPU of one user token",
    "long_ranges": "every goal of long ranges met: ",
    "many_nodes": "tokens for a previous secret: 0",
    "pages": "slowest ÷ goal: ",
    "metrics_blocks": "goals missed: ",
    "ratios": "answered with 5xx: []; below 0.2 of a page of one word: ",
    "replay": "ms a window; memory",
    "one_address": "routes, goals missed: ",
    "push": "CPU of a push / (json.loads + bare COPY): ",
    "restore": "restore until the first token: ",
    "sign_in_branches": "an over-long password next to an invented name",
    "size": "write-ahead log a day: ",
    "soak": "reported to the agent acknowledged, lost 0, doubled 0;",
    "start": "import mudra.bootstrap.node.processes: ",
    "systemd_units": "units of systemd, goals missed: ",
    "ten_times": "simulated ÷ measured, the last: ",
    "truth": "precision",
    "truth_recount": "passed",
    "truth_said": "miscounted 0",
    "upgrade": "p99 of tokens ÷ that next to a process that changes nothing",
    "verify": "TokenVerifier.verify",
    "watch": "quiet ms",
    "what_changed": "every goal of what changed met: ",
}
"""What each prints among its last statistics."""
SHORT = {"hostile", "verify"}
"""One with a service and one without: what all of them share works.

The limit of test_worst_bodies.py is a time, which hostile shows.
"""


def test_every_benchmark_is_run_here():
    programs = {path.stem for path in ROOT.glob("bench/*.py") if "__main__" in path.read_text()}

    assert programs - {"hostile_load"} == set(PRINTED)  # a part of bench/hostile
    assert set(PRINTED) > SHORT


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in SHORT else [pytest.mark.slow]) for name in PRINTED],
)
def test_a_benchmark_runs_in_its_short_form_and_prints_its_statistics(name: str, tmp_path: Path):
    environment = {**os.environ, "BENCH_SHORT": "1", "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
    done = ForkedProgram([], environment, module=f"bench.{name}", forks=True)
    too_long = Timer(300, done.kill)
    too_long.start()
    try:
        printed = done.stdout.read()
    finally:
        too_long.cancel()
        done.stdout.close()

    assert done.wait(PATIENCE_S) == 0, printed
    assert PRINTED[name] in printed
