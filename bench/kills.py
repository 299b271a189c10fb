"""kill -9 of worker, supervisor, PostgreSQL and agent, a thousand times each: lost 0, doubled 0.

    python -m bench.kills [KILLS] [KIND ...]        or: make kills KILLS=1000

Each kind has small networks of its own; all run side by side. AAs push, admins reset their secrets
once each, and a journal keeps what was acknowledged. A part is killed again as soon as it answers
again and something was acknowledged since: nothing waits for a fixed time but the moment of a kill,
which is random. Of workers one is killed that lived a second if there is one, since a supervisor
lets one that died sooner wait that long. After each hundred kills the journal is compared
with what is there, and a line is added to KILLS_FILE (.build/kills.jsonl): a run that is stopped
(TERM compares first) goes on from there the next time. KILLS_SEED sets the first seed.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

import httpx
import msgspec
import psycopg
from tests.support.agent.killed_agent import kill_again_and_again
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database import template_database
from tests.support.service import Service

from bench.entity_token import make_members
from bench.people import make_people
from bench.sizes import SHORT, exit_code, sized
from bench.soak import loaded_service
from bench.soak_load import (
    Admin,
    Journal,
    Pusher,
    client,
    pushes_lost_and_doubled,
    secret_versions,
)
from bench.support import data_directory, forks
from mudra.bootstrap.config import Settings
from mudra.bootstrap.node.serve import open_store
from mudra.storage.database.embedded.server import embedded_server

NETWORKS: Final = {"worker": 1, "supervisor": 2, "PostgreSQL": 1, "agent": 1}
"""Of each kind side by side: two of the one whose part takes longest to come back."""
KINDS: Final = tuple(NETWORKS)
ROUND: Final = sized(100, 2)
AGENT_ROUND: Final = sized(25, 2)
"""Fewer of one agent: in its fast time the seven days that it keeps a payload pass soon."""
AAS: Final = sized(6, 3)
FIPS: Final = sized(5, 2)
ADMINS: Final = sized(100, 4)
PUSHING: Final = 3
"""Threads, so that a kill meets requests on each worker."""
PUSH_EVERY_S: Final = 0.2
RETRY_S: Final = 0.05
SOON_S: Final = 0.1
"""A part is killed so soon after it answered again, at most."""
GROWN_S: Final = 1.0
"""A supervisor waits so long before it starts a process again that lived no longer."""
RESET_EVERY_S: Final = 0.5
ATTEMPTS: Final = 6
"""Of one admin: what was committed without an answer is refused from then on for 5 minutes."""
MAX_WINDOWS: Final = 900
"""Of one AA: the service takes windows of seven days, which are 1,008."""
BACK_S: Final = 300.0
"""A part that does not answer by then never will; under other load a start takes long."""


class Round(msgspec.Struct, frozen=True):
    """What some kills of one kind did."""

    kind: str
    kills: int
    acknowledged: int
    lost: int
    doubled: int
    seed: int
    seconds: float
    slowest_s: float = 0.0
    """From a kill until something was acknowledged again, at most."""
    usual_s: float = 0.0
    """The median of it."""
    statuses: dict[str, int] = {}


class Rounds:
    """The rounds that are done, in a file that outlives a run."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()
        self._taken: Counter[str] = Counter()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_bytes().splitlines() if path.exists() else []
        self.all = [msgspec.json.decode(line, type=Round) for line in lines]

    def add(self, one: Round) -> None:
        """Keep and print a round."""
        with self._lock:
            self.all.append(one)
            with self._path.open("ab") as file:
                file.write(msgspec.json.encode(one) + b"\n")
            print(
                f"{one.kind}: {self.kills(one.kind)} kills; the last {one.kills} in"
                f" {one.seconds:.0f} s ({60 * one.kills / one.seconds:.0f} a minute, back after"
                f" {one.usual_s:.2f} s), {one.acknowledged} acknowledged, lost {one.lost},"
                f" doubled {one.doubled}, seed {one.seed}",
                flush=True,
            )

    def take(self, kind: str, wanted: int, most: int) -> int:
        """Return how many kills the next round has, with those that others have under way."""
        with self._lock:
            left = max(0, wanted - max(self.kills(kind), self._taken[kind]))
            self._taken[kind] = wanted - left + min(left, most)
            return min(left, most)

    def kills(self, kind: str) -> int:
        """Return the kills of a kind so far."""
        return sum(one.kills for one in self.all if one.kind == kind)

    def summary(self, kind: str) -> str:
        """Return the statistics of a kind in one line."""
        of_kind = [one for one in self.all if one.kind == kind]
        return (
            f"{kind}: {self.kills(kind)} kills, {sum(one.acknowledged for one in of_kind)}"
            f" acknowledged, lost {sum(one.lost for one in of_kind)}, doubled"
            f" {sum(one.doubled for one in of_kind)}; back after at most"
            f" {max((one.slowest_s for one in of_kind), default=0.0):.1f} s"
        )


class Network:
    """A service of a few members, its load, and what kills one part of it."""

    def __init__(self, home: Path, kind: str, seed: int, enough: threading.Event) -> None:
        self._kind, self._dice, self._enough = kind, random.Random(seed), enough
        self._workers = 3 if kind == "worker" else 1 + seed % 2
        self._data_dir = data_directory(str(home))
        self._aas = list(make_members(self._data_dir, AAS, "AA").items())
        settings = Settings(data_dir=self._data_dir)
        with open_store(settings, create=False) as (conninfo, encryption):
            self._people = make_people(conninfo, encryption, settings, ADMINS)
        self._journal, self._end = Journal(steady=False), threading.Event()
        self._acknowledged = 0
        self.back_s: list[float] = []
        """From each kill until something was acknowledged again."""
        self._serving: dict[int, float] = {}
        """Workers, and since when they are known to listen."""

    def kill(self, wanted: int) -> tuple[int, int, int]:
        """Kill so many times; gives what was acknowledged, lost and doubled."""
        with contextlib.ExitStack() as stack:
            service = stack.enter_context(loaded_service(self._data_dir, self._workers, 0))
            port = int(service.root.rpartition(":")[2])
            self._pushers = [
                Pusher(service.root, aa, secret, FIPS, self._journal, RETRY_S)
                for aa, secret in self._aas
            ]
            self._admins = [
                Admin(service.root, one, email, self._journal)
                for one, email in self._people.items()
            ]
            actors = [
                *(
                    threading.Thread(target=self._push, args=[place], daemon=True)
                    for place in range(PUSHING)
                ),
                threading.Thread(target=self._reset, daemon=True),
            ]
            for actor in actors:
                actor.start()
            self._wait_for_more(time.monotonic())
            while len(self.back_s) < wanted and self._goes_on(actors):
                time.sleep(self._dice.uniform(0, SOON_S))
                killed = self._wait_for_victim(service)
                began = time.monotonic()
                os.kill(killed, signal.SIGKILL)
                if self._kind == "supervisor":
                    service.process.wait(BACK_S)
                    stack.close()
                    service = stack.enter_context(
                        loaded_service(self._data_dir, self._workers, port)
                    )
                else:
                    self._wait_for_victim(service, killed)
                self._wait_for_more(began)
                self.back_s.append(time.monotonic() - began)
            self._end.set()
            for actor in actors:
                actor.join(BACK_S)
                assert not actor.is_alive(), f"waits in vain: {dict(self._journal.statuses)}"
            lost = self._secrets_that_do_not_work(service.root)
        done, missing, doubled = self._compare()
        return done, lost + missing, doubled

    @property
    def statuses(self) -> dict[str, int]:
        """What was answered, by kind and status."""
        return {f"{kind} {what}": n for (kind, _, what), n in self._journal.statuses.items()}

    def _goes_on(self, actors: list[threading.Thread]) -> bool:
        return actors[0].is_alive() and not self._enough.is_set()

    def _wait_for_victim(self, service: Service, former: int = 0) -> int:
        began = time.monotonic()
        while (pid := self._victim(service, former)) == 0:
            assert time.monotonic() < began + BACK_S, f"not replaced: {self._kind}"
            time.sleep(0.02)
        return pid

    def _victim(self, service: Service, former: int = 0) -> int:
        """Return the process to be killed; 0 while the one of `former` has no successor."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            if self._kind == "supervisor":
                return service.process.pid
            if self._kind == "PostgreSQL":
                file = self._data_dir / "postgres" / "postmaster.pid"
                pid = int(file.read_text().split()[0])
                return pid if pid != former else 0
            return self._worker(forks(service.process.pid), former)
        return 0

    def _worker(self, found: list[int], former: int) -> int:
        """Return a worker that is grown if there is one; 0 while one of them does not listen."""
        now = time.monotonic()
        known = {pid: self._serving.get(pid) for pid in found if pid != former}
        self._serving = {
            pid: since or now for pid, since in known.items() if since or _listens(pid)
        }
        if len(self._serving) < self._workers:
            return 0
        grown = [pid for pid, since in self._serving.items() if now - since > GROWN_S]
        return self._dice.choice(grown or list(self._serving))

    def _wait_for_more(self, began: float) -> None:
        before = self._acknowledged
        while self._acknowledged == before:
            said = dict(self._journal.statuses)
            assert time.monotonic() < began + BACK_S, f"{self._kind} never came back: {said}"
            time.sleep(0.01)

    def _push(self, place: int) -> None:
        own = self._pushers[place::PUSHING]
        for turn in range(len(own) * MAX_WINDOWS):
            own[turn % len(own)].push()
            self._acknowledged += 2
            if self._end.wait(PUSH_EVERY_S):
                return

    def _reset(self) -> None:
        for admin in self._admins:
            for _ in range(ATTEMPTS):
                admin.reset()
                if self._end.wait(RESET_EVERY_S):
                    return
                if admin.acknowledged:
                    self._acknowledged += 1
                    break

    def _secrets_that_do_not_work(self, root: str) -> int:
        """Ask for a token with each secret that an admin was given last."""
        with client(root) as http:
            answers = [
                http.post(
                    "/iam/v1/entity/token/generate",
                    data={"id": one.entity_id, "secret": one.acknowledged[-1]},
                )
                for one in self._admins
                if one.acknowledged
            ]
        return sum(answer.status_code != httpx.codes.OK for answer in answers)

    def _compare(self) -> tuple[int, int, int]:
        with embedded_server(self._data_dir) as url, psycopg.connect(url) as connection:
            lost, doubled = pushes_lost_and_doubled(connection, self._pushers)
            versions = secret_versions(connection)
        for admin in self._admins:
            resets = versions[admin.entity_id] - 1
            lost += resets < len(admin.acknowledged)
            doubled += resets > len(admin.acknowledged) + admin.unsure
        done = sum(len(one.acknowledged) for one in self._pushers)
        return done + sum(len(one.acknowledged) for one in self._admins), lost, doubled


def _listens(pid: int) -> bool:
    """Whether a process has a listening socket: of those that the supervisor forks, workers."""
    listening = {
        fields[9]
        for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]
        if (fields := line.split())[3] == "0A"
    }
    links = [str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()]
    return any(link[8:-1] in listening for link in links if link.startswith("socket:["))


def kill_service_parts(kind: str, wanted: int, seed: int, enough: threading.Event) -> Round:
    """Kill a part of a service so many times and compare."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        network = Network(Path(home), kind, seed, enough)
        done, lost, doubled = network.kill(wanted)
    back, seconds = network.back_s, time.monotonic() - began
    slowest, usual = max(back, default=0.0), median(back or [0.0])
    return Round(
        kind, len(back), done, lost, doubled, seed, seconds, slowest, usual, network.statuses
    )


def kill_agents(wanted: int, seed: int, enough: threading.Event) -> Round:
    """Kill one agent so many times and compare."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as home:
        found = asyncio.run(
            kill_again_and_again(Path(home), wanted, seed, enough, delivered_s=BACK_S)
        )
    return Round(
        "agent",
        found.kills,
        found.acknowledged,
        found.lost + found.dead_letters,
        found.doubled,
        seed,
        time.monotonic() - began,
    )


def run_kind(kind: str, wanted: int, rounds: Rounds, enough: threading.Event) -> None:
    """Add rounds of one kind until there are enough kills, or something is lost or doubled."""
    most = AGENT_ROUND if kind == "agent" else ROUND
    while not enough.is_set() and (kills := rounds.take(kind, wanted, most)):
        seed = int(os.environ.get("KILLS_SEED", random.randrange(10_000))) + len(rounds.all)
        act = kill_agents if kind == "agent" else partial(kill_service_parts, kind)
        found = act(kills, seed, enough)
        rounds.add(found)
        if found.lost or found.doubled:
            return


def main() -> int:
    """Run all kinds and print; 1 when something was lost or doubled, or kills are missing."""
    words = sys.argv[1:]
    wanted = int(words[0]) if words else sized(1000, 2)
    kinds = words[1:] or list(KINDS)
    enough = threading.Event()
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, lambda *_: enough.set())
    with tempfile.TemporaryDirectory() as folder, cheap_hashes():
        short_file = Path(folder) / "kills.jsonl"
        file = Path(os.environ.get("KILLS_FILE", ".build/kills.jsonl"))
        rounds = Rounds(short_file if SHORT else file)
        if not SHORT:
            template_database.use(Path(folder))
        threads = [
            threading.Thread(target=run_kind, args=[kind, wanted, rounds, enough], daemon=True)
            for kind in kinds
            for _ in range(1 if SHORT else NETWORKS[kind])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for kind in kinds:
        print(rounds.summary(kind))
    bad = Counter(one.kind for one in rounds.all if one.lost or one.doubled)
    missing = [kind for kind in kinds if rounds.kills(kind) < wanted]
    print(f"kinds with a loss or a double: {len(bad)}; kinds with kills missing: {len(missing)}")
    return exit_code(met=not (bad or missing))


if __name__ == "__main__":
    raise SystemExit(main())
