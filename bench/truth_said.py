"""bench/truth_said: what readers see in networks that no part was tuned on.

    python -m bench.truth_said --network big --seed 1

Networks (big, large, mixed, cluster, thin, tiny) learn, have two quiet days, then faults of all
kinds, then scenes: a festival, a month-end, a vendor whose FIPs fall together, a maintenance, a
deployment. Prints which incidents were about what, the states of the feed by what was true, and
what the public read of FIPs that had no trouble of their own.
"""

import argparse
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from bench.sizes import sized
from bench.truth_service import Said, Service
from bench.truth_world import Fault, Shape, World
from mudra.metrics.health.fip_state import ApiState
from mudra.metrics.incidents.incident import Ending, Incident, Network
from mudra.metrics.incidents.subject import aa_concerned, fip_concerned, name_of
from mudra.metrics.notifications.alarm import counted_text, title_of
from mudra.metrics.notifications.severity import severity_of
from mudra.metrics.payload.catalogue import FEED_APIS, WINDOW, window_at
from mudra.metrics.public_status.status_history import DayState

FIRST = 144 * 20_003
DAY = 144
NETWORKS = {
    "big": Shape(8, 40),
    "large": Shape(12, 100, most=300),
    "mixed": Shape(4, 12),
    "cluster": Shape(6, 24, reach="few"),
    "thin": Shape(2, 10, fewest=20 / 144, most=20 / 144 + 1e-6, reach="all"),
    "tiny": Shape(1, 3, fewest=20, reach="all"),
}
_FEED = [(place, api.api) for place, api in enumerate(FEED_APIS.values())]
_APART = 24
"""Windows between two troubles of one FIP."""
_OF_OUTCOMES = {"outcomes": ("finot",)}
_QUIET = {"blip", "maintenance", "festival", "deployment"}
"""No incident is to open."""
_RIGHT = {
    "one API": {"fip-api"}, "path": {"path"}, "blocks": {"path"}, "AA": {"aa-calls"},
    "AA API": {"aa-api"}, "agent": {"aa-reporting"}, "network": {"network"},
    "month-end": {"network"}, "heartbeat": {"fip-api"}, "outcomes": {"fip", "fip-api"},
}  # fmt: skip


@dataclass
class Plan:
    """The troubles of one network."""

    world: World
    rng: np.random.Generator
    faults: list[Fault] = field(default_factory=list)
    at: int = 0
    busy: dict[int, int] = field(default_factory=dict)
    """Until when a FIP has another trouble."""

    def fip(self, least: float = 0.0, most: float = 1e9) -> int:
        """Draw a free FIP by its calls in a window."""
        size = self.world.volume.sum((0, 1))
        able = [fip for fip in range(len(size)) if least <= size[fip] <= most]
        able = able or [int(size.argmax())]
        self.at = max(self.at, min(self.busy.get(fip, 0) for fip in able) + _APART + 1)
        free = [fip for fip in able if self.busy.get(fip, 0) + _APART < self.at]
        return int(self.rng.choice(free))

    def add(self, name: str, length: int, *, wide: bool = False, **what: object) -> None:
        """Add a fault from now on; nothing else is while a wide one is."""
        if wide:
            self.at = max([self.at, *(one.end + 6 for one in self.faults)])
        fault = Fault(name, self.at, self.at + length, **what)  # type: ignore[arg-type]
        self.faults.append(fault)
        for fip in fault.fips or ():
            self.busy[fip] = fault.end
        self.at += length + 8 if wide else 4


def plan(world: World, start: int, rng: np.random.Generator, rounds: int) -> Plan:
    """Return faults of all kinds at random places, then the scenes."""
    made = Plan(world, rng, at=start)
    aas = world.shape.aas
    enough = float(np.quantile(world.volume.sum((0, 1)), 0.4))

    def length() -> int:
        return int(rng.integers(6, 12))

    def aa_of(fip: int) -> int:
        return int(np.argmax(world.volume.sum(0)[:, fip] * rng.random(aas)))

    for _ in range(rounds):
        made.add("FIP down", length(), fips=[made.fip(enough)], fails=1.0)
        made.add("small FIP down", 12, fips=[made.fip(0, max(5.0, enough))], fails=1.0)
        made.add("FIP 30 %", length(), fips=[made.fip(enough)], fails=0.3)
        made.add("one API", length(), fips=[made.fip(enough)], fails=0.8,
                 apis=[str(rng.choice(["cns", "fireq", "fif", "adisc"]))])  # fmt: skip
        made.add("slow", length(), fips=[made.fip(enough)], slower=3.0)
        made.add("breaks 5 s", length(), fips=[made.fip(enough)], slower=40.0)
        made.add("tail", length(), fips=[made.fip(enough)], slower=12.0, slow_share=0.12)
        made.add("refuses", length(), fips=[made.fip(enough)], refuses=0.6)
        made.add("outcomes", length(), fips=[made.fip(enough)], denies=0.7)
        made.add("heartbeat", length(), fips=[made.fip()], fails=1.0, apis=["hbt"])
        made.add("blip", 1, fips=[made.fip(enough)], fails=0.5)
        made.add("maintenance", 6, fips=[made.fip(enough)], fails=1.0, planned=True)
        if aas > 1:
            fip = made.fip(enough)
            made.add("path", length(), fips=[fip], aas=[aa_of(fip)], fails=0.9)
            aa, other = rng.choice(aas, 2, replace=False).tolist()
            made.add("AA", length(), wide=True, aas=[aa], fails=float(rng.uniform(0.5, 1)))
            made.add("AA API", length(), wide=True, aas=[other], fails=0.8, apis=["fif"])
            made.add("agent", length(), wide=True, aas=[aa], silent=True)
            made.add("FIP down, agent silent", length(), fips=[made.fip(enough)], fails=1.0)
            silent = Fault("agent", made.faults[-1].start, made.faults[-1].end,
                           aas=[other], silent=True)  # fmt: skip
            made.faults.append(silent)
            made.at = silent.end + 8
        made.add("network", 6, wide=True, fails=0.6)
    made.at = max(one.end for one in made.faults) + 30
    made.add("festival", 60, wide=True, load=5.0)
    made.at += 60
    made.add("month-end", 36, wide=True, slower=2.0)
    made.at += 100
    made.add("month-end", 72, wide=True, slower=2.0)
    made.at += 60
    for fip in dict.fromkeys(made.fip(enough) for _ in range(5)):
        made.faults.append(Fault("vendor", made.at, made.at + 9, fips=[fip], fails=0.95))
    made.at += 60
    made.add("deployment", 10**6, fips=[made.fip(enough)], fails=0.05)
    return made


def about(incident: Incident, fault: Fault, world: World) -> bool:
    """Report whether place and time of an incident touch a fault."""
    window = int(incident.began.timestamp()) // 600
    if not fault.start - 4 <= window < fault.end + 1:
        return False
    if isinstance(incident.subject, Network):
        return fault.fips is None and fault.aas is None
    aa, fip = aa_concerned(incident.subject), fip_concerned(incident.subject)
    kind = name_of(incident.subject).kind
    if (kind == "aa-reporting") != fault.silent:
        return False
    aas = {world.aa_ids[one] for one in fault.aas} if fault.aas is not None else None
    fips = {world.fip_ids[one] for one in fault.fips} if fault.fips is not None else None
    if fips is None and aas is None:
        return True
    return bool((aas is None or aa in {*aas, None}) and (fips is None or fip in {*fips, None}) and (
        (aas is not None and aa in aas) or (fips is not None and fip in fips)
    ))  # fmt: skip


def is_right(incident: Incident, fault: Fault) -> bool:
    """Report whether the kind of its place is the true one."""
    return name_of(incident.subject).kind in _RIGHT.get(fault.name, {"fip"})


class Feed:
    """The states of the feed by what was true."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[str]] = defaultdict(Counter)
        self.odd: list[str] = []

    def look(self, service: Service, faults: list[Fault], window: int) -> None:
        """Count the states of a window."""
        world = service.world
        if service.states is None:
            return
        for fip, name in enumerate(world.fip_ids):
            states = service.states.fips.get(name)
            near = [one for one in faults if one.start <= window < one.end + 36
                    and (one.fips is None or fip in one.fips)]  # fmt: skip
            for place, api in _FEED:
                state = states[place] if states else None
                self._count(service, near, fip, api, state, window)

    def _count(
        self, service: Service, near: list[Fault], fip: int, api: str, state: ApiState | None,
        window: int,
    ) -> None:  # fmt: skip
        here = [one for one in near if api in (one.apis or _OF_OUTCOMES.get(one.name, (api,)))]
        now = [one for one in here if one.acts(window)]
        said = str(state.status.value) if state else "UNSURE"
        own = [one for one in now if one.aas is None and one.fips is not None]
        if not here:
            self.seen["healthy"][said] += 1
            if said in {"BAD", "DEGRADED"}:
                self.odd.append(f"{window - FIRST} healthy FIP {fip} {api} {state}")
        elif own:
            fault = own[0]
            since = {0: "window 1", 1: "window 2"}.get(window - fault.start, "later")
            few = service.kept[window].total[:, :, fip].sum() < 120
            size = ", few calls" if few else ""
            self.seen[f"{fault.name}{size}, {since}"][said] += 1
            if said == "GOOD" and fault.fails == 1.0 and window - fault.start > 1:
                self.odd.append(f"{window - FIRST} {fault.name} FIP {fip} {api} {state}")
        elif now:
            self.seen[f"only elsewhere: {now[0].name}"][said] += 1


def run(name: str, seed: int, rounds: int, quiet: int, learn: int) -> None:
    """Play one network and print what was said."""
    world = World(NETWORKS[name], seed)
    rng = np.random.default_rng([seed, 31])
    start = FIRST + learn + quiet
    planned = plan(world, start, rng, rounds)
    faults = planned.faults
    vendor = {fip for one in faults if one.name == "vendor" for fip in one.fips or ()}
    service = Service(world, FIRST, {world.fip_ids[fip]: "GATEWAY" for fip in vendor})
    feed, public = Feed(), Counter[str]()
    innocent: Counter[str] = Counter()
    for window in range(FIRST, planned.at + 160):
        service.window(window, faults)
        if window < FIRST + learn:
            continue
        feed.look(service, faults, window)
        if window % 6 == 5:
            _look_at_public(service, faults, window, start, public, innocent)
    said = service.finish()
    print(f"== {name} {world.shape.aas} x {world.shape.fips}, seed {seed}: "
          f"{learn} windows learned, {quiet} quiet, "
          f"{planned.at + 160 - start} with faults")  # fmt: skip
    _incidents(said, faults, world, start)
    print("feed")
    for truth, states in sorted(feed.seen.items()):
        print(f"  {truth:<40} {dict(states)}")
    for line in feed.odd[:12]:
        print("  odd:", line)
    print("public, by FIP and hour", dict(public))
    for text, number in innocent.most_common(8):
        print("  innocent:", number, text)
    _days_of(said, faults, world)
    print("changes", [(one, str(at), change) for one, (at, change) in said.changes.items()])
    print("at once", [group.text for group in said.groups.values()])
    print("miscounted", len(said.miscounted), said.miscounted[:5])


def _look_at_public(
    service: Service, faults: list[Fault], window: int, start: int, public: Counter[str],
    innocent: Counter[str],
) -> None:  # fmt: skip
    for name, state in service.last_day().items():
        fip = service.world.fip_ids.index(name)
        own = [one for one in faults if one.start <= window < one.end + DAY and one.fips is not None
               and fip in one.fips and one.aas is None and one.name != "maintenance"]  # fmt: skip
        when = "quiet" if window < start else "own trouble" if own else "no own trouble"
        public[f"{when}: {state.value}"] += 1
        if state in {DayState.BAD, DayState.PARTLY} and not own:
            innocent[name] += 1


def _days_of(said: Said, faults: list[Fault], world: World) -> None:
    found: Counter[str] = Counter()
    for name, days in said.days.items():
        fip = world.fip_ids.index(name)
        for day in days:
            first = int(datetime.combine(day.day, datetime.min.time()).timestamp()) // 600
            hit = [one for one in faults if one.start < first + DAY and one.end > first]
            own = any(one.fips is not None and fip in one.fips and one.aas is None
                      and one.name != "maintenance" for one in hit)  # fmt: skip
            wide = sorted({one.name for one in hit if one.fips is None})
            when = "own trouble" if own else f"only {wide}" if wide else "no trouble"
            found[f"{when}: {day.state.value}"] += 1
    print("days", dict(found))


def _incidents(said: Said, faults: list[Fault], world: World, start: int) -> None:
    kept = [one for one in said.incidents.values() if one.ending is not Ending.MERGED]
    false = [one for one in kept if not any(
        about(one, fault, world) and fault.name not in _QUIET for fault in faults)]  # fmt: skip
    early = sum(int(one.began.timestamp()) // 600 < start for one in false)
    print(f"incidents {len(kept)}, about no fault {len(false)}, of them in quiet {early}")
    for one in false:
        began = int(one.began.timestamp()) // 600 - FIRST
        print("  false:", began, title_of(one), counted_text(one), one.cause.strength)
    table: dict[str, list[tuple[bool, bool, int, int]]] = defaultdict(list)
    for fault in faults:
        if fault.name in _QUIET:
            continue
        found = [one for one in kept if about(one, fault, world)]
        times = [at for at, one in said.first.values() if about(one, fault, world)]
        waited = int((min(times) - window_at(fault.start)) / WINDOW) if times else 0
        right = any(is_right(one, fault) for one in found)
        table[fault.name].append((bool(found), right, waited, len(found)))
        if not right or len(found) > 1:
            print(f"  {fault.name} {fault.start - FIRST}-{fault.end - FIRST} aas {fault.aas} fips "
                  f"{fault.fips} {fault.apis or ''}:",
                  [f"{title_of(one)}; {severity_of(one).value}" for one in found])  # fmt: skip
    for kind, rows in table.items():
        waits = sorted(row[2] for row in rows if row[0])
        print(f"  {kind:<24} n {len(rows)} found {sum(row[0] for row in rows)} right "
              f"{sum(row[1] for row in rows)} incidents {sum(row[3] for row in rows)} "
              f"opened in window {dict(Counter(waits))}")  # fmt: skip
    critical = [one for one in kept if severity_of(one).value == "critical"]
    fewest = min((one.eligible - one.succeeded for one in critical), default=0)
    print(f"  critical {len(critical)}, with {fewest} failed calls at least")


def main() -> None:
    """Play the networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=NETWORKS, default=sized("big", "tiny"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=sized(3, 1))
    parser.add_argument("--quiet", type=int, default=sized(2 * DAY, 24))
    parser.add_argument("--learn", type=int, default=sized(216, 72))
    args = parser.parse_args()
    run(args.network, args.seed, args.rounds, args.quiet, args.learn)


if __name__ == "__main__":
    main()
