"""Faults at random under load, with a journal of what was acknowledged: lost 0, doubled 0.

    python -m bench.faults [FAULTS] [MINUTES]

A node of two workers over its embedded PostgreSQL is asked for tokens, resets of secrets, first
entries in the registry and pushes. One of the faults of `bench/broken_parts.py` is made after the
other, each as often as the others, in an order that FAULTS_SEED sets. After each the drill waits
until the node is ready and has acknowledged another token, reset and push, and compares the
database with the journal: each reset, entry and push is there once. At the end each secret gets a
token, each acknowledged token is active, each reset has its email, and the audit is verified.
It ends after FAULTS (100) or MINUTES (15), and prints a row for each kind of fault. A full disk
needs root.
"""

import os
import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from email.parser import BytesParser
from email.policy import default
from pathlib import Path
from statistics import median
from typing import Final

import httpx2
from msgspec import Struct, field
from tests.faults.patroni.journal_check import differences, refused_secrets
from tests.faults.patroni.load import (
    PUSH,
    REGISTRY,
    RESET,
    TOKEN,
    Entities,
    Journal,
    Load,
    entities,
)
from tests.support.cheap_hashes import cheap_hashes
from tests.support.database import template_database
from tests.support.http_clients import NO_TLS

from bench.broken_parts import FAULTS, Node
from bench.sizes import SHORT, argument, exit_code, sized
from bench.support import say, scratch

ENTITIES: Final = sized(2_000, 50)
UNDER_LOAD_S: Final = (0.5, 2.0)
"""So long the load runs before a fault is made."""
READY_S: Final = 120.0
_SUBJECT: Final = "the entity secret was reset"


class Acts(Load):
    """The load, slow enough for a busy machine, and for the windows of seven days."""

    pauses: Mapping[str, float] = {TOKEN: 0.1, RESET: 0.05, REGISTRY: 0.3, PUSH: 0.6}


class Made(Struct, frozen=True):
    """One fault, and what came of it."""

    kind: str
    back_s: float
    acknowledged: int
    differences: int
    statuses: dict[str, int] = field(default_factory=dict)


def order(faults: int, dice: random.Random) -> Iterator[str]:
    """Yield names of faults: each once in any order, then again."""
    while faults > 0:
        names = list(FAULTS)
        dice.shuffle(names)
        yield from names[:faults]
        faults -= len(names)


class Drill:
    """A node under load in which one thing after the other is broken."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.journal = Journal()
        self._known: Entities = entities(node.service, ENTITIES)
        self._load = Acts([node.service], self._known, self.journal)

    def make(self, kind: str) -> Made:
        """Make a fault under load, wait until all is back, compare."""
        before = len(self.journal.answers)
        load = self._load = Acts([self._node.service], self._known, self.journal, self._load.aas)
        with load:
            self._node.for_a_while(UNDER_LOAD_S)
            FAULTS[kind](self._node)
            began = time.monotonic()
            self._wait_until_back(began)
            back_s = time.monotonic() - began
        with self._node.database() as connection:
            found = differences(self.journal, connection)
        said = Counter(f"{one.kind} {one.status}" for one in self.journal.answers[before:])
        done = sum(number for name, number in said.items() if name.endswith(" 200"))
        return Made(kind, back_s, done, sum(found.values()), dict(said))

    def _wait_until_back(self, began: float) -> None:
        """Wait until it is ready, and a token, a reset and a push begun since are acknowledged.

        Entries are checked in a process of low priority, which has no turn on a busy machine.
        """

        def back() -> bool:
            seen = {
                one.kind
                for one in list(self.journal.answers)
                if one.began >= began and one.status == httpx2.codes.OK
            }
            return seen >= {TOKEN, RESET, PUSH} and self._is_ready()

        while not back():
            said = Counter((one.kind, one.status) for one in self.journal.answers[-50:])
            assert time.monotonic() < began + READY_S, f"not back: {said}"
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            url = f"{self._node.service.root}/readyz"
            return httpx2.get(url, verify=NO_TLS, timeout=10).status_code == httpx2.codes.OK
        except httpx2.TransportError:
            return False

    def missing_at_the_end(self) -> dict[str, int]:
        """Compare what only a service that is left alone can show."""
        service, journal = self._node.service, self.journal
        wanted = len(journal.resets)
        self._node.advance("PT1H")  # emails that were refused wait at most so long

        def mails() -> Counter[str]:
            """Returns how often the email of each reset came, by its Message-ID."""
            read = BytesParser(policy=default).parsebytes
            received = [read(one.content) for one in list(self._node.sink.received)]
            return Counter(str(one["Message-ID"]) for one in received if _SUBJECT in one["Subject"])

        service.wait_until(lambda: len(mails()) >= wanted, lambda: len(mails()))
        found = mails()
        doubled = found.total() - len(found)
        said = [""]

        def intact() -> bool:
            """Events that waited while the clock was moved are sealed soon."""
            done = service.cli("audit", "verify", check=False)
            said.append(done.output.strip())
            return done.exit_code == 0

        service.wait_until(intact, said.pop)
        print(said[-1])
        print(f"emails of {wanted} resets: {len(found)}, of which {doubled} came twice", flush=True)
        return {
            "secrets": refused_secrets(service.issuer, journal),
            "tokens": self._inactive_tokens(),
            "surprises": len(journal.surprises),
            "wrong": len(journal.wrong),
        }

    def _inactive_tokens(self) -> int:
        """Introspect all tokens that were given; gives how many are not active."""
        name = self._known.admin.entity_id
        secret = self._known.secrets[name]
        service = self._node.service
        return sum(
            not service.introspected(one, name, secret)["active"] for one in self.journal.given
        )


def table(made: list[Made]) -> str:
    """Returns a row for each kind of fault."""
    by_kind: dict[str, list[Made]] = defaultdict(list)
    for one in made:
        by_kind[one.kind].append(one)
    lines = [
        "| fault | n | back, median (most) | acknowledged | lost or doubled | 5xx, no answer |",
        "|---|---|---|---|---|---|",
    ]
    for kind, some in by_kind.items():
        back = [one.back_s for one in some]
        bad = Counter[str]()
        for one in some:
            for name, number in one.statuses.items():
                bad[name.split()[1]] += number
        none, good = bad["0"], bad["200"]
        lines.append(
            f"| {kind} | {len(some)} | {median(back):.1f} s ({max(back):.1f})"
            f" | {sum(one.acknowledged for one in some)}"
            f" | {sum(one.differences for one in some)}"
            f" | {sum(bad.values()) - none - good}, {none} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Make the faults and print; 1 when something was lost or doubled, or a fault is missing."""
    faults, minutes = int(argument(1, 100, 2)), argument(2, 15, 2)
    seed = int(os.environ.get("FAULTS_SEED", random.randrange(10_000)))
    print(f"{faults} faults, seed {seed}", flush=True)
    over, dice = time.monotonic() + 60 * minutes, random.Random(seed)
    made: list[Made] = []
    with scratch() as folder, cheap_hashes():
        if not SHORT:
            template_database.use(Path(folder))
        node = Node(Path(folder) / "node", dice)
        node.folder.mkdir()
        with node.running():
            drill = Drill(node)
            for kind in order(faults, dice):
                if time.monotonic() > over:
                    break
                made.append(one := drill.make(kind))
                say(f"{len(made)}: {kind}: {one.back_s:.1f} s, {one.statuses}, {one.differences}")
            rest = drill.missing_at_the_end()
    print(table(made))
    print(*drill.journal.surprises[:10], *drill.journal.wrong[:10], sep="\n")
    bad = sum(one.differences for one in made) + sum(rest.values())
    kinds = ", ".join(f"{n} {kind}" for kind, n in drill.journal.acknowledged().items())
    print(f"{len(made)} faults of {faults}; acknowledged: {kinds}; lost or doubled: {bad} {rest}")
    return exit_code(met=not bad and len(made) == faults)


if __name__ == "__main__":
    sys.exit(main())
