"""A second way to the numbers of a report: window by window, from what happened.

It shares no code with `mudra.levels`: causes and calls are values of this file.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

START = datetime(2026, 3, 1, tzinfo=UTC)
TEN = timedelta(minutes=10)
APIS = ("adisc", "fireq", "hbt")
AAS = ("AA-1", "AA-2", "AA-3")
FIP = "KAVERI-FIP"


@dataclass
class Seen:
    """The calls of one AA by one API in a window: answers by class, and cells of time."""

    good: int = 0
    refused: int = 0
    broken: int = 0
    silent: int = 0
    cells: list[int] = field(default_factory=list)


@dataclass
class Event:
    """Something that happened from a window until before another."""

    kind: str
    first: int
    end: int
    aa: str = ""
    api: str = ""
    notice: timedelta = timedelta(days=2)
    doubt: bool = False


@dataclass
class World:
    """All that happened to one FIP."""

    windows: int
    seen: dict[tuple[int, str, str], Seen]
    events: list[Event]
    reported: set[int]

    def at(self, window: int) -> datetime:
        return START + window * TEN


def random_world(seed: int) -> World:
    random = Random(seed)
    windows = random.randint(6, 40)
    reported = {one for one in range(windows) if random.random() > 0.1}
    seen = {}
    for window in sorted(reported):
        for aa in AAS:
            for api in APIS:
                if random.random() < 0.3:
                    continue
                good, refused, broken, silent = (random.randint(0, most) for most in (40, 5, 6, 3))
                cells = [random.randint(0, 120) for _ in range(good + refused + broken)]
                seen[window, aa, api] = Seen(good, refused, broken, silent, cells)
    kinds = (
        "fip",
        "fip-api",
        "path",
        "aa",
        "network",
        "maintenance",
        "left_out",
        "excused",
        "aa-maintenance",
    )
    events = []
    for kind in random.choices(kinds, k=random.randint(0, 6)):
        first = random.randrange(windows)
        end = min(first + random.randint(1, 12), windows)
        api = random.choice(APIS) if kind in {"fip-api", "left_out"} else ""
        notice = timedelta(hours=random.choice((1, 48)))
        events.append(
            Event(kind, first, end, random.choice(AAS), api, notice, random.random() < 0.2)
        )
    return World(windows, seen, events, reported)


def concerns(event: Event, window: int, aa: str, api: str) -> bool:
    if not event.first <= window < event.end or (event.api and event.api != api):
        return False
    return event.kind not in {"path", "aa", "aa-maintenance"} or event.aa == aa


def fate(world: World, window: int, aa: str, api: str) -> str:
    """Counted, lost or left out: the first rule that applies."""
    here = [one for one in world.events if concerns(one, window, aa, api)]
    kinds = {one.kind for one in here}
    on_time = {one.kind for one in here if one.notice >= timedelta(hours=24)}
    if "left_out" in kinds:
        return "out"
    if "maintenance" in on_time:
        return "out"
    if kinds & {"path", "aa", "network", "aa-maintenance"}:
        return "out"
    own = [one for one in here if one.kind in {"fip", "fip-api"}]
    if any(one.doubt for one in own):
        return "doubt"
    if "excused" in kinds:
        return "excused"
    if own or "maintenance" in kinds:
        return "lost"
    return "counted"


@dataclass
class Result:
    eligible: int = 0
    good: int = 0
    lost: int = 0
    doubt: int = 0
    cells: list[int] = field(default_factory=list)


def recount(world: World, apis: tuple[str, ...]) -> Result:
    """The calls of some APIs, one after the other."""
    found = Result()
    for (window, aa, api), seen in world.seen.items():
        if api not in apis:
            continue
        failed = seen.broken + seen.silent
        what = fate(world, window, aa, api)
        if what == "doubt":
            found.doubt += failed
        if what in {"out", "doubt"}:
            continue
        found.good += seen.good
        found.eligible += seen.good + (0 if what == "excused" else failed)
        found.lost += failed if what == "lost" else 0
        found.cells += [] if what == "excused" else seen.cells
    return found


def bounds(cell: int) -> tuple[int, int]:
    """First and last millisecond but one of a cell: 8 to each doubling."""
    if cell < 16:
        return cell, cell + 1
    doubling, part = divmod(cell, 8)
    size = 2 ** (doubling - 1)
    return (8 + part) * size, (9 + part) * size


def quantile(cells: list[int], percent: int, longest: int) -> int | None:
    if not cells:
        return None
    ordered = sorted(cells)
    rank = (len(ordered) * percent + 99) // 100
    cell = ordered[rank - 1]
    within = rank - ordered.index(cell)
    first, after = bounds(cell)
    place = (2 * within - 1) * (after - first) // (2 * ordered.count(cell))
    return min(first + place, longest)
