"""kill -9 of worker, supervisor, PostgreSQL and agent, a thousand times each: lost 0, doubled 0.

    python -m bench.kills [KILLS] [KIND ...]        or: make kills KILLS=1000

Each kind has small networks of its own; all run side by side. AAs push, admins reset their secrets
once each, and a journal keeps what was acknowledged. A part is killed again as soon as it answers
again and something was acknowledged since: nothing waits for a fixed time but the moment of a kill,
which is random, while requests are being answered. A worker is killed only if it holds connections,
and nine times of ten if it lived a second, since a supervisor lets one that died sooner wait that
long. After each hundred kills the journal is compared with what is there, and a line is added to
KILLS_FILE (.build/kills.jsonl): a run that is stopped (TERM compares first) goes on from there the
next time; the data of a network in which they differ is kept next to it. KILLS_SEED sets the first
seed. All is in memory where there is a file system for that:
a kill loses nothing that was written, wherever it lies.
"""

import asyncio
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from tests.faults.killed_agent import kill_again_and_again
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database import template_database
from tests.support.forked_command import run_mudra

from bench.killed_network import BACK_S, Members, Network, make_network_members
from bench.sizes import SHORT, exit_code, sized
from bench.support import scratch

NETWORKS: Final = {"worker": 1, "supervisor": 2, "PostgreSQL": 1, "agent": 1}
"""Of each kind side by side: most of the one whose part takes longest to come back."""
KINDS: Final = tuple(NETWORKS)
ROUND: Final = sized(100, 2)
AGENT_ROUND: Final = sized(50, 2)
"""Fewer of one agent: in its fast time the seven days that it keeps a payload pass soon."""
MEMORY: Final = Path("/dev/shm")  # a new directory in it


class Round(msgspec.Struct, frozen=True):
    """The outcome of some kills of one kind."""

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
    differences: tuple[str, ...] = ()
    """What was lost or doubled, as far as it has a name."""


class Rounds:
    """The rounds that are done, in a file that outlives a run."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self._taken: Counter[str] = Counter()
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = path.read_bytes().splitlines() if path.exists() else []
        self.all = [msgspec.json.decode(line, type=Round) for line in lines]

    def add(self, one: Round) -> None:
        """Keep and print a round."""
        with self._lock:
            self.all.append(one)
            with self.path.open("ab") as file:
                file.write(msgspec.json.encode(one) + b"\n")
            print(
                f"{one.kind}: {self.kills(one.kind)} kills; the last {one.kills} in"
                f" {one.seconds:.0f} s ({60 * one.kills / one.seconds:.0f} a minute, back after"
                f" {one.usual_s:.2f} s), {one.acknowledged} acknowledged, lost {one.lost},"
                f" doubled {one.doubled}, seed {one.seed}",
                *one.differences,
                sep="\n  ",
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


class Killing:
    """Rounds of kills of each kind, until there are enough or it is to end."""

    def __init__(self, home: Path, rounds: Rounds, wanted: int) -> None:
        self._home, self._rounds, self._wanted = home, rounds, wanted
        self.enough = threading.Event()

    def run(self, kinds: list[str]) -> None:
        """Run all kinds side by side."""
        run_mudra("--version")  # starts what all others are forked from, once
        members = make_network_members(self._home) if set(kinds) - {"agent"} else None
        threads = [
            threading.Thread(target=self._run_kind, args=[kind, members], daemon=True)
            for kind in kinds
            for _ in range(1 if SHORT else NETWORKS[kind])
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _run_kind(self, kind: str, members: Members | None) -> None:
        """Add rounds of one kind until there are enough, or something is lost or doubled."""
        most = AGENT_ROUND if kind == "agent" else ROUND
        while not self.enough.is_set() and (kills := self._rounds.take(kind, self._wanted, most)):
            seed = int(os.environ.get("KILLS_SEED", random.randrange(10_000)))
            seed += len(self._rounds.all)
            with scratch(self._home) as folder:
                if members is None or kind == "agent":
                    found = self._kill_agents(Path(folder), kills, seed)
                else:
                    network = Network(Path(folder), kind, seed, self.enough, members)
                    found = kill_service_parts(network, kind, kills, seed)
                    if found.differences:
                        network.keep(self._rounds.path.with_name(f"kills-{kind}-{seed}"))
            self._rounds.add(found)
            if found.lost or found.doubled:
                return

    def _kill_agents(self, home: Path, wanted: int, seed: int) -> Round:
        """Kill one agent so many times and compare."""
        began = time.monotonic()
        found = asyncio.run(
            kill_again_and_again(home, wanted, seed, self.enough, delivered_s=BACK_S)
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


def kill_service_parts(network: Network, kind: str, wanted: int, seed: int) -> Round:
    """Kill a part of a service so many times and compare."""
    began = time.monotonic()
    done, lost, doubled = network.kill(wanted)
    back, seconds = network.back_s, time.monotonic() - began
    slowest, usual = max(back, default=0.0), median(back or [0.0])
    return Round(
        kind,
        len(back),
        done,
        len(lost),
        len(doubled),
        seed,
        seconds,
        slowest,
        usual,
        network.statuses,
        (*lost, *doubled),
    )


def main() -> int:
    """Run all kinds and print; 1 when something was lost or doubled, or kills are missing."""
    words = sys.argv[1:]
    wanted = int(words[0]) if words else sized(1000, 1)
    kinds = words[1:] or sized(list(KINDS), ["worker", "agent"])
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with scratch(place) as folder, cheap_hashes():
        home = Path(folder)
        file = Path(os.environ.get("KILLS_FILE", ".build/kills.jsonl"))
        rounds = Rounds(home / "kills.jsonl" if SHORT else file)
        if not SHORT:
            template_database.use(home)
        killing = Killing(home, rounds, wanted)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: killing.enough.set())
        killing.run(kinds)
    for kind in kinds:
        print(rounds.summary(kind))
    bad = Counter(one.kind for one in rounds.all if one.lost or one.doubled)
    missing = [kind for kind in kinds if rounds.kills(kind) < wanted]
    print(f"kinds with a loss or a double: {len(bad)}; kinds with kills missing: {len(missing)}")
    return exit_code(met=not (bad or missing))


if __name__ == "__main__":
    raise SystemExit(main())
