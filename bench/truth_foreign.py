"""bench/truth: small networks of another kind than `truth_network`, which no part was tuned on.

Volumes fall as a power law, and FIPs of 0.5 to 5 calls a window are among them. Volumes, errors
and times have two peaks a day, a weekend, and batches at night; noise is lognormal and lasts for
hours. Failed calls are repeated, times have a Pareto tail, and percentiles are interpolated
by some AAs and rounded by others. One AA's clock is wrong, one sends no notification metrics, and
reports are missing or late at random.
"""

import math
from collections import deque
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bench.truth_network import FINOT, FIREQ, NOTICES, REQUESTS, VERIFY, Drawn, Floats, Odds, Times
from mudra.metrics.attribution.evidence.evidence import Evidence, empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, REQUEST_APIS, TIMED_APIS

Calls = NDArray[np.int64]
_SHARE_OF = {
    "adisc": 0.25, "alink": 0.2, "adlink": 0.01, "alinkv": 0.25, "cns": 0.4, "cnot": 0.2,
    "fireq": 1.0, "fif": 0.8, "hbt": 0.3,
}  # fmt: skip
_SHARES = np.array([_SHARE_OF[code] for code in REQUEST_APIS])
_TAIL = 0.02
_TAIL_INDEX = 1.8
_PARTS = ("failed", "client_errors", "slower", "slower_share", "no_data", "arrives")


@dataclass
class ForeignNetwork:
    """A network of another kind; the same methods as `Network`."""

    aas: int
    fips: int
    seed: int
    rng: np.random.Generator = field(init=False)
    volume: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Draw what stays the same."""
        self.rng = rng = np.random.default_rng([self.seed, 4711])
        totals = 1500.0 * rng.permutation(np.arange(1, self.fips + 1)) ** -1.1
        small = rng.random(self.fips) < 0.4
        totals = np.where(
            small, rng.uniform(0.5, 5.0, self.fips), totals * rng.uniform(0.3, 3, self.fips)
        )
        shares = rng.dirichlet(np.full(self.aas, 0.8)) + 0.03
        pair = shares[:, None] * (rng.random((self.aas, self.fips)) < 0.75)
        pair[np.argmax(shares)] += 0.05
        self.volume = (_SHARES / _SHARES.sum())[:, None, None] * (pair / pair.sum(0)) * totals
        self.errors = np.clip(0.008 * rng.lognormal(0, 0.8, self.fips), 0.0005, 0.04)
        self.errors = self.errors * rng.lognormal(0, 0.3, (len(CALL_APIS), 1, self.fips))
        self.errors = self.errors * rng.lognormal(0, 0.2, (1, self.aas, 1))
        self.errors[REQUESTS:] = 0.005 * rng.lognormal(0, 0.4, (NOTICES, self.aas, 1))
        self.client = np.clip(
            0.03 * rng.lognormal(0, 0.9, (len(CALL_APIS), self.aas, self.fips)), 0, 0.3
        )
        self.median = rng.normal(math.log(350), 0.6, (len(TIMED_APIS), 1, self.fips))
        self.median[REQUESTS:] += math.log(10)
        self.median = self.median + rng.normal(0, 0.25, (1, self.aas, 1))
        self.sigma = rng.uniform(0.4, 1.0, (1, 1, self.fips))
        self.no_data = np.clip(0.04 * rng.lognormal(0, 0.6, self.fips), 0, 0.3)
        self.repeats = rng.uniform(1.0, 1.4, self.fips)
        self.batch = rng.random(self.fips) < 0.3
        self.mondays = np.where(rng.random(self.fips) < 0.25, 1.4, 1.0)
        self.weekend = np.where(rng.random(self.fips) < 0.6, 0.35, 1.1)
        self.clock = np.zeros(self.aas)
        self.clock[rng.integers(self.aas)] = rng.uniform(0.3, 1.7)
        self.mute = np.zeros(self.aas, np.bool_)
        self.mute[rng.integers(self.aas)] = rng.random() < 0.5
        self.lost = rng.uniform(0, 0.03, self.aas)
        self.missed = np.zeros(self.aas, np.bool_)
        self.wander = rng.normal(0, 1, (4, self.fips))
        self.past: deque[Odds] = deque(maxlen=3)
        self.waiting = np.zeros((2, self.aas, self.fips))

    def odds(self, window: int) -> Odds:
        """The probabilities of a window in which nothing is wrong."""
        rng = self.rng
        self.wander = 0.93 * self.wander + 0.37 * rng.normal(0, 1, self.wander.shape)
        hour, weekday = _clock(window)
        busy = 1 + 0.8 * self.batch * (1 <= hour < 3)
        errors = self.errors * busy * np.exp(0.3 * self.wander[0])
        errors = errors * np.where(weekday == 0, self.mondays, 1.0)
        errors = errors * rng.lognormal(0, 0.25, errors.shape)
        evening = 1 + 0.4 * (18 <= hour < 23)
        return Odds(
            failed=np.clip(errors, 0, 0.9),
            client_errors=np.clip(self.client * rng.lognormal(0, 0.25, self.client.shape), 0, 0.9),
            slower=np.ones((len(TIMED_APIS), self.aas, self.fips)),
            slower_share=np.zeros((len(TIMED_APIS), self.aas, self.fips)),
            no_data=np.clip(self.no_data * evening * np.exp(0.2 * self.wander[1]), 0, 0.9)
            * np.ones((self.aas, self.fips)),
            arrives=np.full((self.aas, self.fips), 0.97),
            silent=np.zeros(self.aas, np.bool_),
            maintained=np.zeros(self.fips, np.bool_),
        )  # fmt: skip

    def draw(self, window: int, odds: Odds) -> Drawn:
        """Draw the calls of a window, as each AA's clock has it, and report them."""
        rng = self.rng
        self.past.appendleft(odds)
        odds = self._by_clock()
        evidence = empty_evidence(window, self.aas, self.fips)
        mean = self.volume * self._load(window) * rng.gamma(8.0, 1 / 8.0, (self.aas, self.fips))
        calls = np.zeros((len(CALL_APIS), self.aas, self.fips), np.int64)
        calls[:REQUESTS] = rng.poisson(mean)
        client = np.zeros_like(calls)
        failed = np.zeros_like(calls)
        self._answer(calls, client, failed, odds, slice(0, REQUESTS))
        accepted = calls - client - failed
        for place, request in enumerate((FIREQ, VERIFY)):
            due = rng.poisson(accepted[request] * odds.arrives * self.repeats)
            late = rng.binomial(due, 0.25)
            calls[FINOT + place] = due - late + self.waiting[place]
            self.waiting[place] = late
        calls[FINOT + 2] = rng.poisson(0.1 * mean[FIREQ])
        self._answer(calls, client, failed, odds, slice(REQUESTS, None))
        evidence.total[:], evidence.failed[:], evidence.client_errors[:] = calls, failed, client
        bad = rng.binomial(calls[FINOT], odds.no_data)
        self._statuses(evidence, calls[FINOT] - bad, bad)
        answered = (calls - client)[:REQUESTS]
        timed = np.concatenate((answered, (calls[FINOT] - bad)[None], bad[None]))
        self._times(evidence, timed, window, odds)
        self._report(evidence, odds)
        return Drawn(evidence, odds, calls.astype(float))

    def _by_clock(self) -> Odds:
        """The probabilities as each AA's windows have them: of a clock ahead, those of before."""
        now = self.past[0]
        mixed = Odds(**{name: getattr(now, name).copy() for name in now.__dataclass_fields__})
        for aa in np.flatnonzero(self.clock):
            whole, part = divmod(float(self.clock[aa]), 1.0)
            new = self.past[min(int(whole), len(self.past) - 1)]
            old = self.past[min(int(whole) + 1, len(self.past) - 1)]
            for name in _PARTS:
                place = (..., aa, slice(None))
                getattr(mixed, name)[place] = (1 - part) * getattr(new, name)[place] + (
                    part * getattr(old, name)[place]
                )
        return mixed

    def _load(self, window: int) -> Floats:
        hour, weekday = _clock(window)
        shape = 0.05 + math.exp(-((hour - 11) ** 2) / 8) + 0.7 * math.exp(-((hour - 20) ** 2) / 5)
        week = self.weekend if weekday >= 5 else np.ones_like(self.weekend)
        return np.asarray(shape * week * np.exp(0.25 * self.wander[2]))

    def _answer(self, calls: Calls, client: Calls, failed: Calls, odds: Odds, part: slice) -> None:
        """Answers; half of the failed calls are repeated, and half of these fail again."""
        client[part] = self.rng.binomial(calls[part], odds.client_errors[part])
        failed[part] = self.rng.binomial(calls[part] - client[part], odds.failed[part])
        again = self.rng.binomial(failed[part], 0.5)
        calls[part] += again
        failed[part] += self.rng.binomial(again, np.maximum(odds.failed[part], 0.5))

    def _statuses(self, evidence: Evidence, good: Calls, bad: Calls) -> None:
        denied = self.rng.binomial(bad, 0.6)
        status = evidence.statuses
        status[0], status[1] = good, bad
        status[2], status[3], status[5] = good * 2, denied, bad - denied

    def times(self, window: int) -> Times:
        """Returns the durations of calls in the window whose probabilities were asked for last."""
        hour, weekday = _clock(window)
        shift = 0.15 * self.wander[3] + 0.12 * np.log(self._load(window) + 0.3)
        shift = shift + 0.3 * self.batch * (1 <= hour < 3) + 0.1 * (weekday == 0)
        return Times(self.median + shift, self.sigma[0, 0], _TAIL, _TAIL_INDEX)

    def _times(self, evidence: Evidence, timed: Calls, window: int, odds: Odds) -> None:
        """Times with a Pareto tail, and four points by the AA's own way of estimating them."""
        counts = timed.ravel()
        cell = np.repeat(np.arange(counts.size), counts)
        fip = cell % self.fips
        median = self.times(window).median.ravel()
        times = median[cell] + self.sigma.ravel()[fip] * self.rng.normal(size=cell.size)
        tail = self.rng.random(cell.size) < _TAIL
        times += np.where(tail, np.log1p(self.rng.pareto(_TAIL_INDEX, cell.size)), 0.0)
        hit = self.rng.random(cell.size) < odds.slower_share.ravel()[cell]
        times = np.exp(times + np.where(hit, np.log(odds.slower.ravel()[cell]), 0.0))
        times = times[np.lexsort((times, cell))]
        first = np.cumsum(counts) - counts
        aa = np.arange(counts.size) // self.fips % self.aas
        for place, share in enumerate((0.5, 0.95, 0.99, 1.0)):
            rank = share * (counts - 1)
            rank = np.where(aa % 2, rank, np.ceil(rank - 1e-9))[counts > 0]
            low = np.floor(rank).astype(np.int64)
            begin = first[counts > 0]
            between = times[begin + np.ceil(rank).astype(np.int64)] - times[begin + low]
            points = np.zeros(counts.size)
            points[counts > 0] = times[begin + low] + between * (rank - low)
            digits = 10.0 ** (np.floor(np.log10(np.maximum(points, 1.0))) - 2)
            points = np.where(aa % 3 == 0, np.round(points / digits) * digits, points)
            evidence.percentiles[..., place] = np.round(points).reshape(timed.shape)
        evidence.samples[:] = timed

    def _report(self, evidence: Evidence, odds: Odds) -> None:
        """Leave out what does not come; chance never loses two reports of an AA in a row."""
        lost = (self.rng.random(self.lost.size) < self.lost) & ~self.missed
        silent = odds.silent | lost
        late = ~silent & ~self.missed & (self.rng.random(silent.size) < 0.005)
        self.missed = silent | late
        evidence.reported[:] = ~silent
        evidence.late[:] = late
        evidence.notified[:] = ~silent & ~self.mute
        evidence.maintained_fips[:] = odds.maintained
        for part in (evidence.total, evidence.failed, evidence.client_errors, evidence.samples,
                     evidence.percentiles, evidence.statuses):  # fmt: skip
            part[:, silent] = 0
        for part in (evidence.total, evidence.failed, evidence.client_errors):
            part[REQUESTS:, self.mute] = 0
        evidence.samples[REQUESTS:, self.mute] = 0
        evidence.statuses[:, self.mute] = 0


def _clock(window: int) -> tuple[float, int]:
    """Hour of day and weekday in India, 0 being Monday."""
    local = window / 6 + 5.5
    return local % 24, int(local // 24 + 3) % 7
