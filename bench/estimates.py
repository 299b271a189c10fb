"""The error of estimated percentiles of a day, next to all its calls, which no report has.

    python -m bench.estimates [SEEDS]

Response times are drawn for each window of a day and each AA; of each window only the four reported
percentiles are kept, and all are added up. Printed is, for each kind of times, the error of the
estimated p50, p95 and p99: its median over the SEEDS (20), and the largest. As a rule 95 % of
services are like the first rows; the last ones are meant to be hard.
"""

import statistics
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.sizes import argument, exit_code, sized
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import POINTS, Cells
from mudra.metrics.sums.percentiles import percentile

PERCENTS: Final = (50, 95, 99)
WINDOWS: Final = sized(144, 4)
AAS: Final = sized(8, 2)
GOALS: Final = {50: 0.03, 95: 0.03, 99: 0.10}
"""The largest median error of ordinary services."""
Times = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, int], Times]
"""Response times in milliseconds of an AA, of so many calls."""


class Kind(NamedTuple):
    """A kind of service, with the calls of an AA in ten minutes."""

    name: str
    calls: int
    draw: Draw
    ordinary: bool = True


def usual(dice: np.random.Generator, _aa: int, calls: int) -> Times:
    return dice.lognormal(5.6, 0.7, calls)


def uneven(dice: np.random.Generator, aa: int, calls: int) -> Times:
    """The AAs have paths of different length, and the larger ones the shorter."""
    return dice.lognormal(5.0 + 0.25 * aa, 0.6, max(1, calls // (1 + aa)))


def cached(dice: np.random.Generator, _aa: int, calls: int) -> Times:
    """Half of the answers come from a cache."""
    hit = dice.random(calls) < 0.5
    return np.where(hit, dice.lognormal(3.7, 0.3, calls), dice.lognormal(6.8, 0.4, calls))


def time_limits(dice: np.random.Generator, _aa: int, calls: int) -> Times:
    """Three in a hundred wait for a time limit of ten seconds."""
    waits = dice.random(calls) < 0.03
    return np.where(waits, 10_000 + dice.random(calls) * 50, dice.lognormal(5.6, 0.6, calls))


def heavy(dice: np.random.Generator, _aa: int, calls: int) -> Times:
    return 120 * (1 + dice.pareto(1.5, calls))


def drifting(dice: np.random.Generator, _aa: int, calls: int) -> Times:
    """One window in twenty is eight times as slow."""
    return dice.lognormal(5.6 + (np.log(8) if dice.random() < 0.05 else 0), 0.5, calls)


KINDS: Final = (
    Kind("log-normal, 1,000 calls a window", 1000, usual),
    Kind("log-normal, 100 calls a window", 100, usual),
    Kind("log-normal, 10 calls a window", 10, usual),
    Kind("AAs with other paths and volumes", 1000, uneven),
    Kind("one window in twenty is slow", 300, drifting),
    Kind("heavy tail (Pareto 1.5)", 300, heavy, ordinary=False),
    Kind("half from a cache", 300, cached, ordinary=False),
    Kind("3 % wait for a time limit", 300, time_limits, ordinary=False),
)


def blocks_of(windows: list[Times]) -> Cells:
    """The report of these windows: calls and four percentiles each."""
    rows = np.array([[point(one, percent) for percent in (*PERCENTS, 100)] for one in windows])
    calls = np.array([len(one) for one in windows])
    zero = np.zeros(len(windows), np.int64)
    keys = {"at": np.arange(len(windows)), "aa": zero, "type": zero + 1, "fip": zero}
    points = dict(zip(POINTS, rows.T, strict=True))
    return Cells(keys, {"c0": calls, "c1": calls}, points["p100"], points, None)


def point(ordered: Times, percent: int) -> int:
    """Nearest rank."""
    return int(ordered[-(-len(ordered) * percent // 100) - 1])


def errors(kind: Kind, seed: int) -> list[float]:
    """The relative error of each percentile of one day."""
    dice = np.random.default_rng(seed)
    windows = [
        np.sort(np.rint(kind.draw(dice, aa, kind.calls)))
        for aa in range(AAS)
        for _ in range(WINDOWS)
    ]
    every = np.sort(np.concatenate(windows))
    total = added([blocks_of(windows)], ())
    return [
        abs(int(percentile(total, percent)[0]) / point(every, percent) - 1) for percent in PERCENTS
    ]


def main() -> int:
    seeds = int(argument(1, 20, 2))
    met = True
    print(
        f"error of a day's estimates: {AAS} AAs, {WINDOWS} windows; median and largest of {seeds}"
    )
    for kind in KINDS:
        found = [*zip(*(errors(kind, seed) for seed in range(seeds)), strict=True)]
        shown = (
            f"p{percent} {statistics.median(of) * 100:4.1f} % (at most {max(of) * 100:4.1f} %)"
            for percent, of in zip(PERCENTS, found, strict=True)
        )
        print(f"  {kind.name:<34}" + "   ".join(shown))
        for percent, of in zip(PERCENTS, found, strict=True):
            met &= not kind.ordinary or statistics.median(of) <= GOALS[percent]
    print(f"every goal of ordinary services met: {met}")
    return exit_code(met=met)


if __name__ == "__main__":
    raise SystemExit(main())
