"""bench/feed: how often the feed is wrong by chance, and how soon it says GOOD again.

    python -m bench.feed --aas 20 --fips 200 --days 3

Draws quiet days of a network of small FIPs, and one hour of outage of each FIP
in turn, and counts the states that the feed would have shown.
"""

import argparse
import sys
from collections import Counter
from datetime import UTC, datetime

import numpy as np

from bench.sizes import sized
from bench.truth_faults import Fault, FaultKind
from bench.truth_network import Network, Settings
from mudra.metrics.detection.fip_counts import FipCounts, fip_counts
from mudra.metrics.detection.fip_test import LOOKS, fip_states
from mudra.metrics.health.fip_state import FipStates
from mudra.metrics.health.health import Status
from mudra.metrics.payload.catalogue import FEED_APIS, WINDOW_SECONDS

FIRST = 144 * 20_000
LEAD = LOOKS[-1]
NOON = 36
"""Outages begin at noon, when most calls are made."""
DOWN = 6
LIMIT = 0.05
AFTER = 8


class Watched:
    """A network, and the states of its FIPs window by window; no cause is known to them."""

    def __init__(self, settings: Settings) -> None:
        self.network = Network(settings)
        self.names = tuple(f"BANK-{number}" for number in range(settings.fips))
        self.recent: list[FipCounts] = []
        self.states: FipStates | None = None
        self.window = FIRST

    def next(self, *faults: Fault) -> FipStates:
        """One window later."""
        odds = self.network.odds(self.window)
        for fault in faults:
            fault.apply(odds, self.window)
        evidence = self.network.draw(self.window, odds).evidence
        self.recent = [*self.recent, fip_counts(evidence, self.names, (), ())][-LEAD:]
        at = datetime.fromtimestamp(self.window * WINDOW_SECONDS, UTC)
        self.states = fip_states(at, self.recent, (), self.states)
        self.window += 1
        return self.states


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(20, 3))
    parser.add_argument("--fips", type=int, default=sized(200, 12))
    parser.add_argument("--days", type=float, default=sized(3, 0.1))
    parser.add_argument("--largest", type=float, default=60)
    parser.add_argument("--wobble", type=float, default=0.25)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    settings = Settings(args.aas, args.fips, args.seed, largest=args.largest, wobble=args.wobble)
    watched = Watched(settings)
    quiet(watched, int(args.days * 144) + NOON)
    outages(watched)


def quiet(watched: Watched, windows: int) -> None:
    """Healthy days. An API that truly loses 5 % of its calls is rightly BAD, all else is chance."""
    seen: Counter[Status] = Counter()
    bad: Counter[tuple[str, int]] = Counter()
    sums = np.zeros((2, len(FEED_APIS), len(watched.names)))
    for number in range(LEAD + windows):
        states = watched.next()
        sums += watched.recent[-1].sums[:2]
        for fip_id, apis in states.fips.items() if number >= LEAD else ():
            seen.update(one.status for one in apis if one.calls)
            bad.update((fip_id, at) for at, one in enumerate(apis) if one.status is Status.BAD)
    share = sums[1] / np.maximum(sums[0], 1)
    chance = {at: n for at, n in bad.items() if share[at[1], watched.names.index(at[0])] < LIMIT}
    total = max(seen.total(), 1)
    print(f"quiet: {seen.total()} states, GOOD {100 * seen[Status.GOOD] / total:.1f} %, "
          f"UNSURE {100 * seen[Status.UNSURE] / total:.1f} %, BAD {seen[Status.BAD]} "
          f"of {len(bad)} APIs; {sum(chance.values())} of {len(chance)} APIs that lose less than "
          f"{100 * LIMIT:.0f} % over the whole time: "
          f"{[round(float(100 * share[at, watched.names.index(fip)]), 1) for fip, at in chance]} %"
          )  # fmt: skip


def outages(watched: Watched) -> None:
    """Ten FIPs are down for an hour: windows until BAD, and until GOOD again."""
    until_bad: list[int] = []
    until_good: Counter[str] = Counter()
    volume = watched.network.volume.sum((0, 1))
    chosen = volume.argsort()[:: max(1, len(volume) // 10)]
    start = watched.window
    faults = [Fault(FaultKind.FIP_DOWN, start, start + DOWN, 1.0, -1, int(fip)) for fip in chosen]
    known = {int(fip): [False] * 2 for fip in chosen}
    for number in range(DOWN + AFTER):
        states = watched.next(*(faults if number < DOWN else ()))
        for fip in chosen:
            api = states.of(watched.names[fip], "consent")
            fell, rose = known[int(fip)]
            if not fell and api.status is Status.BAD:
                known[int(fip)][0] = True
                until_bad.append(number + 1)
            if fell and not rose and number >= DOWN and api.status is Status.GOOD:
                known[int(fip)][1] = True
                until_good[f"{number - DOWN + 1} windows"] += 1
            if fell and number >= DOWN + 1 and api.status is Status.BAD:
                until_good["still BAD after two good windows"] += 1
    print(f"down: {len(chosen)} FIPs, {len(until_bad)} BAD after {sorted(until_bad)} windows; "
          f"GOOD again after {dict(until_good)}")  # fmt: skip
    sys.stdout.flush()


if __name__ == "__main__":
    main()
