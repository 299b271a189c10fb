"""bench/truth_said: a third network, with its own arithmetic, that reports as AAs do.

Nothing is drawn call by call: counts are binomial, and the four percentiles of a cell are drawn
as order statistics, so that a window of 40 FIPs takes milliseconds. Volumes are heavy-tailed with
two peaks a day, a weekend and a quiet night; rates of errors and times wander for hours, alone and
together; heartbeats come five a pair and window; AAs take percentiles in three ways.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.attribution.evidence.lanes import CALL_APIS, REQUEST_APIS, TIMED_APIS
from mudra.metrics.detection.window_calls import Part, Parts, WindowCalls

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REQUESTS = len(REQUEST_APIS)
FINOT = CALL_APIS.index("finot")
HEARTBEAT = CALL_APIS.index("hbt")
FIREQ, VERIFY, DISCOVERY = (CALL_APIS.index(code) for code in ("fireq", "alinkv", "adisc"))
_SHARES = {"adisc": 0.6, "alink": 0.3, "adlink": 0.02, "alinkv": 0.28, "cns": 0.25, "cnot": 0.08,
           "fireq": 1.0, "fif": 0.93}  # fmt: skip
_HEARTBEATS = 5
_TAIL, _TAIL_INDEX = 0.02, 1.8
_IST = timedelta(hours=5.5)
_HOURS = 24.0
"""Windows that a rate takes to wander: four hours."""


@dataclass(frozen=True)
class Shape:
    """The size of a network, who calls whom, and how many calls a FIP has in a window."""

    aas: int
    fips: int
    fewest: float = 0.5
    most: float = 600.0
    reach: str = "most"
    """`most` of the pairs, `all`, or `few`: each FIP has one to three AAs."""


@dataclass
class Fault:
    """A trouble or a change: where, in which windows, and what it does to calls there."""

    name: str
    start: int
    end: int
    aas: Sequence[int] | None = None
    fips: Sequence[int] | None = None
    apis: Sequence[str] | None = None
    fails: float = 0.0
    refuses: float = 0.0
    slower: float = 1.0
    slow_share: float = 1.0
    denies: float = 0.0
    load: float = 1.0
    planned: bool = False
    silent: bool = False
    """The agents of these AAs do not report; their calls go on."""

    def acts(self, window: int) -> bool:
        """Report whether it acts in a window."""
        return self.start <= window < self.end


@dataclass
class Reported:
    """Reports of a window by all AAs, and the counts that it is made of, API x AA x FIP."""

    calls: WindowCalls
    total: Ints
    failed: Ints
    refused: Ints
    silent: frozenset[int]
    planned: frozenset[int]


class World:
    """A network and how it wanders."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.rng = shape, np.random.default_rng([seed, 90210])
        rng, aas, fips = self.rng, shape.aas, shape.fips
        self.aa_ids = tuple(f"AA-{one:02}" for one in range(aas))
        self.fip_ids = tuple(f"FIP-{one:03}" for one in range(fips))
        pairs = rng.random((aas, fips)) < {"most": 0.85, "all": 1.1, "few": -1.0}[shape.reach]
        for fip in range(fips):
            number = int(rng.integers(1, 4)) if shape.reach == "few" else 1
            pairs[rng.choice(aas, min(number, aas), replace=False), fip] = True
        self.pairs = pairs
        size = np.exp(rng.uniform(math.log(shape.fewest), math.log(shape.most), fips))
        weight = pairs * rng.dirichlet(np.full(aas, 1.5))[:, None] * rng.gamma(3, 1 / 3, (aas, 1))
        weight = weight + pairs * 1e-3
        share = np.array([_SHARES.get(code, 0.0) for code in REQUEST_APIS])
        self.volume = (share / share.sum())[:, None, None] * (weight / weight.sum(0)) * size
        self.errors = np.exp(rng.uniform(math.log(0.005), math.log(0.025), fips))
        self.refusals = np.where(np.arange(REQUESTS) == DISCOVERY, 0.12, 0.02)
        self.without_data = rng.uniform(0.01, 0.03, fips)
        self.median = rng.normal(math.log(450), 0.5, (len(TIMED_APIS), 1, fips))
        self.median[REQUESTS:] += math.log(25)
        self.median = self.median + rng.normal(0, 0.2, (1, aas, 1))
        self.sigma = rng.uniform(0.4, 0.9, (1, 1, fips))
        self.weekend = rng.uniform(0.5, 0.65, fips)
        self.wander = rng.normal(0, 1, (3, fips))
        self.common = rng.normal(0, 1, 2)
        self.late = np.zeros((2, aas, fips), np.int64)

    def report(self, window: int, faults: Sequence[Fault]) -> Reported:
        """Let a window pass."""
        rng, shape = self.rng, self.shape
        keep = math.exp(-1 / _HOURS)
        fresh = math.sqrt(1 - keep**2)
        self.wander = keep * self.wander + fresh * rng.normal(0, 1, self.wander.shape)
        self.common = keep * self.common + fresh * rng.normal(0, 1, 2)
        now = [one for one in faults if one.acts(window)]
        mean = self.volume * self._load(window) * rng.gamma(20, 1 / 20, (1, shape.aas, shape.fips))
        for one in now:
            mean = np.where(self._cells(one, CALL_APIS[:REQUESTS]), mean * one.load, mean)
        total = np.zeros((len(CALL_APIS), shape.aas, shape.fips), np.int64)
        total[:REQUESTS] = rng.poisson(mean)
        total[HEARTBEAT] = _HEARTBEATS * self.pairs
        fails, refuses, arrives, denies = self._odds(now)
        refused, failed = np.zeros_like(total), np.zeros_like(total)
        refused[:REQUESTS] = rng.binomial(total[:REQUESTS], refuses)
        failed[:REQUESTS] = rng.binomial((total - refused)[:REQUESTS], fails)
        good = total - refused - failed
        for place, request in enumerate((FIREQ, VERIFY)):
            due = rng.binomial(good[request], arrives)
            late = rng.binomial(due, 0.15)
            total[REQUESTS + place] = due - late + self.late[place]
            self.late[place] = late
        failed[REQUESTS:] = rng.binomial(total[REQUESTS:], 0.004)
        bad = rng.binomial(total[FINOT], denies)
        silent = frozenset(aa for one in now if one.silent for aa in one.aas or ())
        for part in (total, failed, refused, bad[None]):
            part[:, list(silent)] = 0
        times = self._times(window, total, failed, bad, now)
        return Reported(
            self._calls(total, failed, refused, bad, times), total, failed, refused, silent,
            frozenset(fip for one in now if one.planned for fip in one.fips or ()),
        )  # fmt: skip

    def _ends(self, one: Fault) -> NDArray[np.bool_]:
        """Return the pairs of a fault, AA x FIP."""
        aas = np.isin(np.arange(self.shape.aas), one.aas) if one.aas is not None else True
        fips = np.isin(np.arange(self.shape.fips), one.fips) if one.fips is not None else True
        return np.asarray(self.pairs & np.reshape(aas, (-1, 1)) & fips)

    def _cells(self, one: Fault, apis: Sequence[str]) -> NDArray[np.bool_]:
        """Return the cells of a fault, API x AA x FIP."""
        rows = np.array([one.apis is None or api in one.apis for api in apis])
        return np.asarray(rows[:, None, None] & self._ends(one))

    def _load(self, window: int) -> Floats:
        local = window / 6 + _IST / timedelta(hours=1)
        hour, weekday = local % 24, int(local // 24 + 3) % 7
        shape = 0.06 + 1.7 * math.exp(-((hour - 11.5) ** 2) / 9) + 1.3 * math.exp(
            -((hour - 19.5) ** 2) / 6
        )  # fmt: skip
        return np.asarray(shape * np.where(weekday >= 5, self.weekend, 1.0))

    def _odds(self, now: Sequence[Fault]) -> tuple[Floats, Floats, Floats, Floats]:
        rng, shape = self.rng, self.shape
        rate = self.errors * np.exp(0.35 * self.wander[0] + 0.15 * self.common[0])
        fails = rate * rng.lognormal(0, 0.2, (REQUESTS, shape.aas, shape.fips))
        fails[HEARTBEAT] *= 0.3
        refuses = self.refusals[:, None, None] * np.exp(0.15 * self.wander[1]) * np.ones_like(fails)
        arrives = np.full((shape.aas, shape.fips), 0.985)
        denies = self.without_data * np.exp(0.2 * self.wander[1]) * np.ones_like(arrives)
        for one in now:
            cells, ends = self._cells(one, CALL_APIS[:REQUESTS]), self._ends(one)
            fails[cells] = 1 - (1 - fails[cells]) * (1 - one.fails)
            refuses[cells] = np.maximum(refuses[cells], one.refuses)
            denies[ends] = np.maximum(denies[ends], one.denies)
            if one.apis is None:
                arrives[ends] *= 1 - one.fails
        return tuple(np.clip(part, 0, 1) for part in (fails, refuses, arrives, denies))

    def _times(
        self, window: int, total: Ints, failed: Ints, bad: Ints, now: Sequence[Fault]
    ) -> tuple[Ints, Floats]:
        """The number of times of each cell, and its four points."""
        rng, shape = self.rng, self.shape
        answered = total[:REQUESTS] - rng.binomial(failed[:REQUESTS], 0.5)
        number = np.concatenate((answered, (total[FINOT] - bad)[None], bad[None]))
        shift = 0.12 * self.wander[2] + 0.08 * self.common[1] + 0.1 * np.log(self._load(window))
        factor, share = np.ones(number.shape), np.zeros(number.shape)
        for one in now:
            if one.slower == 1.0:
                continue
            cells = self._cells(one, TIMED_APIS)
            factor[cells], share[cells] = one.slower, one.slow_share
        points = np.zeros((4, *number.shape))
        lower = np.zeros(number.shape)
        before = np.zeros(number.shape, np.int64)
        for place, part in enumerate((0.5, 0.95, 0.99, 1.0)):
            rank = self._ranks(number, part)
            more = rank > before
            step = rng.beta(np.maximum(rank - before, 1), np.maximum(number - rank + 1, 1))
            lower = np.where(more, lower + (1 - lower) * step, lower)
            before = np.maximum(rank, before)
            points[place] = self._quantile(lower, shift) * np.where(share >= 1, factor, 1.0)
        self._mix(points, number, factor, share, shift)
        rounded = np.round(points)
        digits = 10.0 ** (np.floor(np.log10(np.maximum(rounded, 1.0))) - 1)
        coarse = (np.arange(shape.aas) % 3 == 2)[:, None]
        rounded = np.where(coarse, np.round(rounded / digits) * digits, rounded)
        return number, np.where(number > 0, rounded, 0.0)

    def _ranks(self, number: Ints, part: float) -> Ints:
        """By nearest rank, or the nearer neighbor of an interpolated point."""
        nearest = np.ceil(part * number - 1e-9)
        between = np.round((number - 1) * part) + 1
        ways = (np.arange(self.shape.aas) % 3 == 1)[:, None]
        return np.asarray(np.clip(np.where(ways, between, nearest), 1, None), np.int64)

    def _quantile(self, share: Floats, shift: Floats) -> Floats:
        body = _normal(np.clip(share, 1e-9, 1 - 1e-6))
        beyond = np.clip((share - (1 - _TAIL)) / _TAIL, 0.0, 1 - 1e-6)
        return np.exp(self.median + shift + self.sigma * body) * (1 - beyond) ** (-1 / _TAIL_INDEX)

    def _mix(
        self, points: Floats, number: Ints, factor: Floats, share: Floats, shift: Floats
    ) -> None:
        """Draw the times of cells of which a part of the calls is slower one by one."""
        for cell in np.argwhere((share > 0) & (share < 1) & (number > 0)):
            at = (int(cell[0]), int(cell[1]), int(cell[2]))
            drawn = np.exp(
                self.median[at] + np.broadcast_to(shift, share.shape[2:])[at[2]]
                + self.sigma[0, 0, at[2]] * self.rng.normal(size=number[at])
            )  # fmt: skip
            hit = self.rng.random(number[at]) < share[at]
            drawn = np.sort(np.where(hit, drawn * factor[at], drawn))
            ranks = [self._ranks(number, part)[at] for part in (0.5, 0.95, 0.99, 1.0)]
            points[:, at[0], at[1], at[2]] = drawn[np.minimum(ranks, number[at]) - 1]

    def _calls(
        self, total: Ints, failed: Ints, refused: Ints, bad: Ints, times: tuple[Ints, Floats]
    ) -> WindowCalls:
        number, points = times
        aas = self.shape.aas

        def part(cells: Ints, values: Sequence[NDArray[np.generic]]) -> Part:
            at = np.argwhere(cells > 0).T
            columns = np.stack([one[tuple(at)] for one in values]).astype(np.float32)
            at = at.copy()
            at[-1] += aas
            return Part(at.astype(np.int32), columns)

        came = total[FINOT]
        denied = self.rng.binomial(bad, 0.5)
        zero = np.zeros_like(bad)
        statuses = (came - bad, bad, came - bad, denied, zero, bad - denied, zero)
        return WindowCalls(
            (*self.aa_ids, *self.fip_ids),
            [
                Parts(
                    part(total, (total, failed, refused)),
                    part(number, (number, *points)),
                    part(came, statuses),
                )
            ],
        )


def _normal(share: Floats) -> Floats:
    """The quantile of the normal distribution, after Acklam; right to seven digits."""
    a = (-39.69683028665376, 220.9460984245205, -275.9285104469687, 138.357751867269,
         -30.66479806614716, 2.506628277459239)  # fmt: skip
    b = (-54.47609879822406, 161.5858368580409, -155.6989798598866, 66.80131188771972,
         -13.28068155288572, 1.0)  # fmt: skip
    c = (-0.007784894002430293, -0.3223964580411365, -2.400758277161838, -2.549732539343734,
         4.374664141464968, 2.938163982698783)  # fmt: skip
    d = (0.007784695709041462, 0.3224671290700398, 2.445134137142996, 3.754408661907416, 1.0)
    low = np.minimum(share, 1 - share)
    middle = share - 0.5
    square = middle * middle
    inner = middle * np.polyval(a, square) / np.polyval(b, square)
    far = np.sqrt(-2 * np.log(np.minimum(low, 0.02425)))
    outer = np.polyval(c, far) / np.polyval(d, far)
    return np.where(low < 0.02425, np.where(share < 0.5, outer, -outer), inner)
