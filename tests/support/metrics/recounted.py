"""A network whose reports are kept by the test, and counted again without any code of the service."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from tests.support.metrics.health_network import (
    CODES,
    Fault,
    HealthNetwork,
    at_aa,
    at_fip,
    on_path,
    requests_of,
)
from tests.support.metrics.metrics_push import PushingAa

SITUATIONS = "MUDRA_TEST_SITUATIONS"
"""By this variable bench/truth_recount asks for those from one number on, up to another."""
WINDOW = timedelta(minutes=10)
REOPENS_WITHIN = timedelta(hours=4)
"""Three, and the windows in which it recovers."""
CUSTOMERS = ("adisc", "alink", "adlink", "alinkv", "cns", "cnot", "fireq", "fif")


@dataclass(frozen=True)
class Cell:
    """The calls of one AA to one FIP by one type in a window."""

    window: datetime
    aa_id: str
    fip_id: str
    code: str
    total: int
    good: int
    refused: int


@dataclass(frozen=True)
class Counts:
    """A recount: all calls, all but 4xx, and those that succeeded."""

    total: int
    eligible: int
    good: int

    @property
    def failed(self) -> int:
        return self.eligible - self.good

    def percent(self, places: int) -> float:
        """Success in per cent, half to even; neither 0 nor 100 by rounding."""
        return _rounded(self.good, self.eligible, places)

    @property
    def percent_failed(self) -> float:
        """The failed share in per cent, of one decimal."""
        return _rounded(self.failed, self.eligible, 1)


def _rounded(part: int, whole: int, places: int) -> float:
    one = int(10**places)
    found = round(Fraction(100 * one * part, whole))
    if 0 < part < whole:
        found = min(max(found, 1), 100 * one - 1)
    return found / one


@dataclass
class RecountedNetwork(HealthNetwork):
    """Keeps what was reported."""

    cells: list[Cell] = field(default_factory=list)
    troubled: dict[str, datetime] = field(default_factory=dict)
    """The last bad window of each member that was in a situation."""
    past: list[tuple["Situation", "Truth"]] = field(default_factory=list)
    """What happened, and what is true of it."""

    @classmethod
    def of(cls, network: HealthNetwork) -> "RecountedNetwork":
        return cls(**{one.name: getattr(network, one.name) for one in fields(network)})

    def _store(
        self,
        window: datetime,
        called: Iterable[tuple[PushingAa, Iterable[str]]],
        faults: Iterable[Fault],
    ) -> None:
        listed = [(aa, list(fips)) for aa, fips in called]
        for aa, named in listed:
            for fip in requests_of(aa, window, faults, named, self.calls).fips:
                for block in fip.metrics:
                    counts = block.counts
                    self.cells.append(
                        Cell(window, aa.aa_id, fip.fip_id, block.type,
                             counts[0], counts[1], sum(counts[2:10]))
                    )  # fmt: skip
        super()._store(window, listed, faults)

    def is_well(self, entity_id: str) -> bool:
        """Report whether a member was in no situation for longer than it takes to be a new one."""
        assert self.reported_to is not None
        last = self.troubled.get(entity_id)
        return last is None or self.reported_to - last > REOPENS_WITHIN

    def count(self, of: Callable[[Cell], bool]) -> Counts:
        """Add up some of what was reported."""
        found = [one for one in self.cells if of(one)]
        total, refused = sum(one.total for one in found), sum(one.refused for one in found)
        return Counts(total, total - refused, sum(one.good for one in found))


@dataclass(frozen=True)
class Situation:
    """A fault: where it is, how strong, and in which of the windows from its first on it acts."""

    kind: str
    entity_id: str
    peer_id: str
    code: str
    failing: float
    calls: int
    acts: tuple[bool, ...]

    @property
    def fault(self) -> Fault:
        if self.kind == "path":
            return on_path(self.entity_id, self.peer_id, failing=self.failing)
        at = at_aa if self.kind.startswith("aa") else at_fip
        return at(self.entity_id, self.code, failing=self.failing)

    def has(self, cell: Cell) -> bool:
        """Report whether a call is of the subject: of a whole member those for customers."""
        if self.kind == "path":
            here = (cell.aa_id, cell.fip_id) == (self.entity_id, self.peer_id)
        else:
            here = self.entity_id == (cell.aa_id if self.kind.startswith("aa") else cell.fip_id)
        return here and cell.code in ((self.code,) if self.code else CUSTOMERS)


def a_situation(network: RecountedNetwork, dice: random.Random) -> Situation:
    """Draw one that is large enough to be found in its second window.

    Of members that were well for longer than three hours: what comes back within them is the same
    incident, with the windows that it had before.
    """
    kind = dice.choice(["fip", "fip", "fip-api", "path", "aa-calls"])
    aas, fips = (
        [one for one in ids if network.is_well(one)]
        for ids in ([one.aa_id for one in network.aas], [one.entity_id for one in network.fips])
    )
    aa, fip = dice.choice(aas), dice.choice(fips)
    entity_id = aa if kind in {"path", "aa-calls"} else fip
    code = dice.choice([one.value for one in CODES[:3]]) if kind == "fip-api" else ""
    middle = [dice.random() < 0.7 for _ in range(dice.randrange(3))]
    return Situation(
        kind,
        entity_id,
        fip if kind == "path" else "",
        code,
        dice.uniform(0.6, 1.0),
        dice.randrange(30, 160),
        (True, True, *middle, True),
    )


@dataclass
class Compared:
    """The numbers that were compared, by where they are read, and those that differ."""

    numbers: Counter[str] = field(default_factory=Counter)
    differ: list[str] = field(default_factory=list)

    def same(self, where: str, said: object, true: object, within: float = 0.0) -> None:
        """Compare one number; it may be rounded by so much."""
        self.numbers[where] += 1
        both = isinstance(said, int | float) and isinstance(true, int | float)
        near = both and abs(float(str(said)) - float(str(true))) <= within + 1e-9
        if said != true and not near:
            self.differ.append(f"{where}: {said}, recount {true}")


@dataclass(frozen=True)
class Truth:
    """The figures of an incident, by the recount."""

    began: datetime
    last_bad: datetime
    bad_windows: int
    counts: Counts
    last: Counts
    """Of the last bad window."""
    by_window: tuple[tuple[datetime, Counts], ...]
    """Of each bad window."""

    def until(self, number: int) -> tuple[Counts, Counts]:
        """Return the calls of the first bad windows together, and of the last window alone."""
        parts = [counts for _, counts in self.by_window[:number]]
        together = (sum(getattr(one, each.name) for one in parts) for each in fields(Counts))
        return Counts(*together), parts[-1]

    @property
    def a_minute(self) -> float:
        """Calls that fail now, while it is open: those of the last bad window."""
        return self.last.failed / 10


def passes(network: RecountedNetwork, situation: Situation) -> Truth:
    """Let a situation happen; return what is true of it."""
    network.calls = situation.calls
    bad = []
    for acts in situation.acts:
        at = network.reported_to
        assert at is not None
        network.windows(1, *([situation.fault] if acts else []))
        assert network.reported_to is not None
        while at < network.reported_to:  # two, if another one ended in real time
            at += WINDOW
            bad += [at] if acts else []
    network.settled()
    network.troubled |= dict.fromkeys((situation.entity_id, situation.peer_id), bad[-1])
    counts = network.count(lambda one: one.window in bad and situation.has(one))
    each = tuple((at, _in_window(network, situation, at)) for at in bad)
    truth = Truth(bad[0], bad[-1], len(bad), counts, each[-1][1], each)
    network.past.append((situation, truth))
    return truth


def _in_window(network: RecountedNetwork, situation: Situation, at: datetime) -> Counts:
    return network.count(lambda one: one.window == at and situation.has(one))


def number(text: str) -> int:
    """A whole number as pages and emails write it."""
    return int(text.replace(",", ""))


def found(pattern: str, text: str) -> tuple[str, ...]:
    """The groups of a pattern that a text has once."""
    (groups,) = re.findall(pattern, text) or [()]
    return groups if isinstance(groups, tuple) else (groups,)


def instant(text: str) -> datetime:
    """A time as JSON has it."""
    return datetime.fromisoformat(text)


Json = dict[str, Any]
