"""An upgrade next to ten million cells of metrics, under load: no 5xx, p99 twice at most.

    CELLS=10000000 python -m bench.upgrade

A node serves 200 tokens a second, pushes, pages and the health of an AA, and goes on while another
process changes the schema as a start does: by two migrations of this benchmark's own, which add a
column to the tables with most rows and to those that tokens and pushes write. Its rows are then
filled in by batches, as decision 0134 asks for. Each phase is compared with one in which such a
process starts and finds nothing to change.
"""

import asyncio
import contextlib
import itertools
import math
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import psycopg
from tests.support.agent.agent_process import free_port
from tests.support.http_clients import NO_TLS
from tests.support.metrics.metrics_payloads import request_metrics

from bench.history import load_windows, newest_window
from bench.paced import Answer, Connections, pace
from bench.release_node import (
    THIS,
    ReleaseNode,
    ended,
    environment_of,
    members,
    start,
)
from bench.sizes import SHORT, exit_code, sized
from bench.support import copy_tree, data_directory, form_request, percentile, say, scratch
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.storage.database.embedded.server import embedded_server
from mudra.storage.database.schema.migrate import HEAD, migrate, revisions

CELLS = int(os.environ.get("CELLS", sized(10_000_000, 100)))
AAS = sized(20, 2)
FIPS = sized(450, 3)
BANKS = sized(20, 2)
TOKENS_A_SECOND = sized(200.0, 20.0)
CALM_S = sized(30.0, 0.3)
PUSHED_FIPS = sized(20, 2)
PAUSE = 1.0
"""Of the time that a batch took, between two."""
LIMITS = {
    "MUDRA_STOP_PAUSE_S": "0",
    "MUDRA_TELEMETRY_PORT": "0",
    "MUDRA_ENTITY_TOKEN_RATE": "100000+100000",
    "MUDRA_METRICS_PUSH_RATE": "12+100000",
    "MUDRA_METRICS_PUSH_UNKNOWN_FIPS": "100000",
    "MUDRA_ARGON2_MEMORY_MIB": "19",
    "MUDRA_SIGN_IN_HOURLY": "100000",
    "MUDRA_SECRET_READ_HOURLY": "100000",
    "MUDRA_WORKERS": sized("2", "1"),
}
ADDED = {
    "metrics": ("metrics_block", "metrics_receipt"),
    "tokens": ("entity", "entity_secret", "audit_token_issue", "user_account"),
}
"""By migration, the tables that get a column."""
_MIGRATION = '''"""A column of the benchmark, in tables of the {what}."""

from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None
works_with = "{works_with}"


def upgrade() -> None:
    for table in {tables}:
        op.execute(f"ALTER TABLE {{table}} ADD COLUMN added integer NOT NULL DEFAULT 0")
'''
_MIGRATE = (
    "import sys; from mudra.storage.database.schema.migrate import migrate; migrate(sys.argv[1])"
)
_FAULTS = 500


def next_release(folder: Path) -> tuple[Path, str]:
    """Copy this release, with a migration more for each kind of table; gives tree and revision."""
    if SHORT:  # with what is compiled already
        folder.mkdir()
        copy_tree(THIS / "src", folder / "src")
    else:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(THIS / "src", folder / "src", ignore=ignored)
    storage = folder / "src" / "mudra" / "storage" / "database"
    before = HEAD
    for what, tables in ADDED.items():
        revision = f"{int(before) + 1:04}"
        text = _MIGRATION.format(
            what=what, revision=revision, before=before, works_with=HEAD, tables=tables
        )
        (storage / "migrations" / "versions" / f"{revision}_of_the_benchmark.py").write_text(text)
        before = revision
    code = storage / "migrate.py"
    changed = code.read_text().replace(f'HEAD: Final = "{HEAD}"', f'HEAD: Final = "{before}"')
    code.write_text(changed)
    return folder, before


@dataclass
class Load:
    """A node's callers and their questions; the answers, and the phases that they fell into."""

    port: int
    people: list[dict[str, Any]]
    answers: list[Answer] = field(default_factory=list)
    phases: dict[str, tuple[float, float]] = field(default_factory=dict)

    def run(self, phases: dict[str, Callable[[], object]]) -> None:
        """Ask all the time, while the phases pass, one after the other."""
        asyncio.run(self._run(phases))

    async def _run(self, phases: dict[str, Callable[[], object]]) -> None:
        over = asyncio.Event()
        connections = Connections(self.port)
        rates = {
            "token": (TOKENS_A_SECOND, self._tokens()),
            "push": (2.0, self._pushes()),
            "page": (4.0, self._pages()),
        }
        paced = [
            asyncio.create_task(pace(kind, rate, connections, made, self.answers.append, over))
            for kind, (rate, made) in rates.items()
        ]
        await asyncio.sleep(CALM_S / 5)  # what is first needed is loaded
        for name, act in phases.items():
            began = time.monotonic()
            await asyncio.to_thread(act)
            self.phases[name] = (began, time.monotonic())
        over.set()
        await asyncio.gather(*paced)

    def _of(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.people if one["type"] == kind]

    def _tokens(self) -> Iterator[bytes]:
        forms = [
            form_request("/iam/v1/entity/token/generate", id=one["id"], secret=one["secret"])
            for one in self.people
        ]
        return itertools.cycle(forms)

    def _bearers(self) -> dict[str, str]:
        found = {}
        for one in self._of("AA"):
            answer = httpx2.post(
                f"http://127.0.0.1:{self.port}/iam/v1/entity/token/generate",
                data={"id": one["id"], "secret": one["secret"]},
                verify=NO_TLS,
            )
            found[one["id"]] = str(answer.raise_for_status().json()["accessToken"])
        return found

    def _pushes(self) -> Iterator[bytes]:
        bearers, last = self._bearers(), window_start(datetime.now(UTC)) - WINDOW
        for number in itertools.count():
            for aa_id, token in bearers.items():
                made = request_metrics(
                    PUSHED_FIPS, aa_id, str(uuid.uuid4()), last - number % 250 * WINDOW, number
                )
                yield request("POST", "/metrics/perf/v1/push", token, msgspec.json.encode(made))

    def _pages(self) -> Iterator[bytes]:
        bearers = self._bearers()
        start = newest_window(datetime.now(UTC)) - timedelta(hours=1)
        hour = f"?from={start:%Y-%m-%dT%H:%M:%SZ}&to={start + 6 * WINDOW:%Y-%m-%dT%H:%M:%SZ}"
        paths = (
            f"/metrics/perf/v1/health{hour}",
            "/cr/v2/entityInfo/AA",
            "/metrics/perf/v1/receipts",
            "/status",
            "/console/sign-in",
        )
        tokens = itertools.cycle(bearers.values())
        for path, token in zip(itertools.cycle(paths), tokens, strict=False):
            yield request("GET", path, token)

    def report(self) -> int:
        """Print each phase; gives how many requests failed."""
        failed = 0
        for name, (began, ended_at) in self.phases.items():
            asked = [one for one in self.answers if began <= one.due < ended_at]
            bad = [one for one in asked if not one.status or one.status >= _FAULTS]
            failed += len(bad)
            print(f"  {name}: {ended_at - began:.1f} s, {len(asked)} requests, failed {len(bad)}")
            for kind in ("token", "push", "page"):
                took = [one.seconds * 1000 for one in asked if one.kind == kind]
                if took:
                    print(
                        f"    {kind}: p50 {percentile(took, 0.5):.1f}, p99"
                        f" {percentile(took, 0.99):.1f}, slowest {max(took):.0f} ms"
                    )
            if bad:
                print(f"    {Counter((one.kind, one.status) for one in bad)}")
        refused = Counter((o.kind, o.status) for o in self.answers if 300 <= o.status < _FAULTS)
        print(f"  refused: {dict(refused)}")
        return failed

    def p99(self, phase: str, kind: str = "token") -> float:
        """The 99th percentile of a phase, in milliseconds."""
        began, ended_at = self.phases[phase]
        due = [o for o in self.answers if o.kind == kind and began <= o.due < ended_at]
        return percentile([one.seconds * 1000 for one in due] or [math.nan], 0.99)

    def slower(self, phase: str, than: str) -> float:
        """Returns how many times longer tokens of a phase take, at the 99th percentile.

        NaN where no token is due in one of the two, as may be in the short form.
        """
        return self.p99(phase) / self.p99(than)


def request(method: str, path: str, bearer: str, body: bytes = b"") -> bytes:
    """A request with a bearer token over a connection that stays open."""
    more = f"content-type: application/json\r\ncontent-length: {len(body)}\r\n" if body else ""
    return (
        f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer {bearer}\r\n"
        f"{more}\r\n"
    ).encode() + body


@dataclass
class Bench:
    """A database with many rows, and nodes of releases on it."""

    folder: Path
    url: str
    port: int
    """Of the node that serves."""
    people: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        address = f"http://127.0.0.1:{self.port}/iam"
        self.settings = {"MUDRA_DATABASE_URL": self.url, "MUDRA_BASE_URL": address, **LIMITS}

    def fill(self, nodes: list[ReleaseNode]) -> None:
        """Let a node make the database and its members, then write the rows."""
        nodes.append(start(THIS, self.folder / "0", self.port, self.settings, forked=SHORT))
        issuer = self.settings["MUDRA_BASE_URL"]
        data = self.folder / "0"
        self.settings["MUDRA_MASTER_KEY"] = (data / "master.key").read_text()
        self.people = members(issuer, data, self.settings, AA=AAS, FIP=BANKS)
        if not SHORT:  # else it goes on: one start of it is enough
            assert nodes.pop().stop() == 0
        aas = [one["id"] for one in self.people if one["type"] == "AA"]
        fips = [f"BANK-{n:04}" for n in range(FIPS)]
        made = asyncio.run(load_windows(self.url, aas, fips, CELLS))
        with psycopg.connect(self.url) as connection:
            print(f"{made:,} cells, {connection.execute(_SIZE).fetchone()}")

    def upgrade(self, new: Path, nodes: list[ReleaseNode]) -> Load:
        """Let a node of this release serve while the next one changes the schema."""
        if not nodes:
            nodes.append(start(THIS, self.folder / "0", self.port, self.settings, forked=SHORT))
        load = Load(self.port, self.people)

        def change(tree: Path) -> None:
            if SHORT and tree == THIS:
                migrate(self.url)
            else:
                command = [sys.executable, "-c", _MIGRATE, self.url]
                subprocess.run(command, env=environment_of(tree, {}), check=True)
            time.sleep(CALM_S / 10)

        load.run(
            {
                CALM: lambda: time.sleep(CALM_S),
                SAME: lambda: change(THIS),
                UPGRADE: lambda: change(new),
                BATCHES: self.fill_in,
                "afterwards": lambda: time.sleep(CALM_S),
            }
        )
        assert nodes.pop().stop() == 0
        return load

    def schema(self) -> str | None:
        """The revision of the schema."""
        with psycopg.connect(self.url) as connection:
            return revisions(connection).present

    def fill_in(self) -> None:
        """Fill in the column of the next release by batches, each a transaction of its own."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            batches = connection.execute(
                "SELECT DISTINCT at, aa_id FROM metrics_block WHERE added = 0"
            ).fetchall()
            filled, began = 0, time.monotonic()
            for window, aa_id in batches:
                at = time.monotonic()
                filled += connection.execute(
                    "UPDATE metrics_block SET added = 1 WHERE at = %s AND aa_id = %s AND added = 0",
                    [window, aa_id],
                ).rowcount
                time.sleep(PAUSE * (time.monotonic() - at))
            seconds = time.monotonic() - began
        print(f"  {filled:,} rows in {len(batches)} batches filled in {seconds:.0f} s")


CALM = "nothing else"
SAME = "a process that finds nothing to change"
UPGRADE = "the schema is changed"
BATCHES = "rows are filled in by batches"
_SIZE = "SELECT pg_size_pretty(pg_database_size(current_database()))"


def main() -> int:
    """Load, upgrade, print; 1 when a request failed or the p99 of tokens doubled."""
    nodes: list[ReleaseNode] = []
    with scratch() as directory, contextlib.ExitStack() as stack:
        folder = Path(directory)
        url = stack.enter_context(embedded_server(data_directory(directory, "database")))
        stack.enter_context(ended(nodes))
        bench = Bench(folder, url, free_port())
        bench.fill(nodes)
        say("filled")
        assert bench.schema() == HEAD
        tree, revision = next_release(folder / "next")
        load = bench.upgrade(tree, nodes)
        assert bench.schema() == revision
    print("by a column more in large and busy tables")
    failed = load.report()
    ratios = load.slower(UPGRADE, than=SAME), load.slower(BATCHES, than=CALM)
    print(
        f"failed {failed}; p99 of tokens ÷ that next to a process that changes nothing:"
        f" {ratios[0]:.2f}; next to batches ÷ next to nothing: {ratios[1]:.2f} (goal 2)"
    )
    return exit_code(met=not failed and all(one <= 2 for one in ratios))


if __name__ == "__main__":
    sys.exit(main())
