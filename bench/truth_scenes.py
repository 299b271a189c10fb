"""bench/truth_scenes: what all do at once, and what changes for good, and what attribution says.

    python -m bench.truth_scenes --aas 8 --fips 40 --seed 1

Month-end (all calls take twice as long for hours), a festival (five times the calls), a vendor
whose FIPs fall together, a maintenance, and a deployment after which a FIP loses more calls.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bench.sizes import sized
from bench.truth import FIRST
from bench.truth_network import Network, Odds, Settings
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.incidents import REOPEN_WITHIN, Incident, track
from mudra.metrics.attribution.state import new_state

REQUESTS = 9
DAY = 144
Change = Callable[[Network, Odds], None]


@dataclass
class Scene:
    """A change of a network, and when it acts, in windows after the last that was learned."""

    name: str
    start: int
    end: int
    change: Change
    load: float = 1.0
    found: list[Incident] = field(default_factory=list)


def _slow(_: Network, odds: Odds) -> None:
    odds.slower[:] = 2.0
    odds.slower_share[:] = 1.0


def _nothing(_: Network, __: Odds) -> None:
    pass


def _vendor(fips: np.ndarray) -> Change:
    def down(_: Network, odds: Odds) -> None:
        odds.failed[:REQUESTS, :, fips] = 0.95

    return down


def _maintenance(fip: int) -> Change:
    def down(_: Network, odds: Odds) -> None:
        odds.failed[:REQUESTS, :, fip] = 1.0
        odds.maintained[fip] = True

    return down


def _deployment(fip: int) -> Change:
    def loses(_: Network, odds: Odds) -> None:
        failed = odds.failed[:REQUESTS, :, fip]
        odds.failed[:REQUESTS, :, fip] = failed + 0.05 * (1 - failed)

    return loses


def scenes(network: Network, rng: np.random.Generator) -> list[Scene]:
    """One after the other, with a quiet day between them; the deployment stays."""
    by_fip = network.volume.sum((0, 1))
    order = np.argsort(by_fip)
    busy = order[len(order) // 2 :]
    vendor = rng.choice(busy, min(5, len(busy)), replace=False)
    middle = int(order[int(len(order) * 0.6)])
    return [
        Scene("festival", 20, 50, _nothing, load=5.0),
        Scene("month-end", 144, 180, _slow),
        Scene("month-end, half a day", 300, 372, _slow),
        Scene("vendor", 480, 489, _vendor(vendor)),
        Scene("maintenance", 540, 552, _maintenance(int(busy[-1]))),
        Scene("deployment", 700, 10**9, _deployment(middle)),
    ]


def run(network: Network, learn: int, until: int, seed: int) -> list[Scene]:
    """Play all scenes; returns them with the incidents that began in each."""
    shown = scenes(network, np.random.default_rng([seed, 11]))
    state, done = new_state(*network.volume.shape[1:]), dict[int, Incident]()
    tracked: tuple[Incident, ...] = ()
    volume = network.volume
    for window in range(FIRST, FIRST + learn + until):
        at = window - FIRST - learn
        odds = network.odds(window)
        now = [one for one in shown if one.start <= at < one.end]
        network.volume = volume * max([1.0, *(scene.load for scene in now)])
        for scene in now:
            scene.change(network, odds)
        evaluation = evaluate_window(network.draw(window, odds).evidence, state)
        state = evaluation.state
        tracked = track(tracked, evaluation.causes, window)
        if at >= 0:
            done.update((one.number, one) for one in tracked)
        tracked = tuple(
            one for one in tracked if one.is_open or window - one.ended <= REOPEN_WITHIN
        )
    quiet = Scene("quiet", 0, 0, _nothing)
    for incident in done.values():
        at = incident.detected - FIRST - learn
        here = [scene for scene in shown if scene.start <= at < scene.end + 4]
        (here[0] if here else quiet).found.append(incident)
    return [*shown, quiet]


def main() -> None:
    """Print the incidents of each scene."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(8, 4))
    parser.add_argument("--fips", type=int, default=sized(40, 8))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--learn", type=int, default=sized(3 * DAY, DAY))
    parser.add_argument("--until", type=int, default=sized(6 * DAY, 3 * DAY))
    parser.add_argument("--largest", type=float, default=2_000)
    args = parser.parse_args()
    network = Network(Settings(args.aas, args.fips, args.seed, largest=args.largest))
    for scene in run(network, args.learn, args.until, args.seed):
        print(f"{scene.name}: {len(scene.found)} incidents")
        for one in scene.found:
            last = one.history[-1]
            names = [str(entry.locus.kind) for entry in one.history]
            print(f"  #{one.number} {one.cause.locus} {[s.name for s in one.cause.symptoms]} "
                  f"from {one.detected - FIRST - args.learn} to "
                  f"{one.ended - FIRST - args.learn if one.ended > 0 else 'now'} "
                  f"{last.change} {names}")  # fmt: skip


if __name__ == "__main__":
    main()
