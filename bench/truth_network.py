"""bench/truth: a network with known truth, call by call.

Volumes of FIPs are spread evenly over the orders of magnitude, shares of AAs
are skewed, errors and times have a daily shape and wander, and percentiles are
taken from raw samples. Faults change the probabilities before calls are drawn.
"""

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.attribution.evidence.evidence import Evidence, empty_evidence
from mudra.metrics.attribution.evidence.lanes import CALL_APIS, REQUEST_APIS, TIMED_APIS
from mudra.metrics.payload.catalogue import NotificationType, RequestType

Floats = NDArray[np.float64]
REQUESTS, NOTICES = len(REQUEST_APIS), len(NotificationType)
_SHARES: dict[str, float] = {
    RequestType.ACCOUNT_DISCOVERY: 0.7,
    RequestType.ACCOUNT_LINK: 0.35,
    RequestType.ACCOUNT_DELINK: 0.02,
    RequestType.ACCOUNT_LINK_VERIFY: 0.3,
    RequestType.CONSENT: 0.3,
    RequestType.CONSENT_NOTIFICATION: 0.1,
    RequestType.FI_REQUEST: 1.0,
    RequestType.FI_FETCH: 0.92,
    RequestType.HEARTBEAT: 0.05,
}
_CLIENT_ERRORS: dict[str, float] = {
    RequestType.ACCOUNT_DISCOVERY: 0.12,
    RequestType.ACCOUNT_LINK_VERIFY: 0.05,
}
FINOT = CALL_APIS.index(NotificationType.FI)
FIREQ = CALL_APIS.index(RequestType.FI_REQUEST)
VERIFY = CALL_APIS.index(RequestType.ACCOUNT_LINK_VERIFY)


@dataclass
class Settings:
    """Size and temper of a network."""

    aas: int = 20
    fips: int = 200
    seed: int = 1
    smallest: float = 0.5
    largest: float = 10_000.0
    base_errors: tuple[float, float] = (0.005, 0.03)
    wobble: float = 0.25
    cell_wobble: float = 0.3
    latency_wobble: float = 0.1
    missing_pairs: float = 0.2
    learn: int = 216


@dataclass
class Odds:
    """Probabilities of one window, for faults to change; API x AA x FIP."""

    failed: Floats
    client_errors: Floats
    slower: Floats
    """Factor on the time of the calls that are hit, and the share of calls hit."""
    slower_share: Floats
    no_data: Floats
    arrives: Floats
    silent: NDArray[np.bool_]
    maintained: NDArray[np.bool_]


@dataclass
class Drawn:
    """The evidence of a window, with the probabilities that it was drawn from."""

    evidence: Evidence
    odds: Odds
    calls: Floats
    """All calls that were made, also those no one reported; API x AA x FIP."""


@dataclass
class Times:
    """The distribution of the logarithms of times, without faults."""

    median: Floats
    """Timed API x AA x FIP."""
    sigma: Floats
    """By FIP."""
    tail: float = 0.0
    """Share of calls that take longer by a factor with a Pareto distribution."""
    tail_index: float = 1.0


class AnyNetwork(Protocol):
    """A simulated network; `volume` is calls a window, request API x AA x FIP."""

    volume: Floats

    def times(self, window: int) -> Times:
        """Returns the durations of calls in the window whose probabilities were asked for last."""

    def odds(self, window: int) -> Odds:
        """The probabilities of a window in which nothing is wrong."""

    def draw(self, window: int, odds: Odds) -> Drawn:
        """Draw the calls of a window and report them."""


@dataclass
class Network:
    """A network, and how it wanders from window to window."""

    settings: Settings
    rng: np.random.Generator = field(init=False)
    volume: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Draw what stays the same."""
        s = self.settings
        self.rng = rng = np.random.default_rng(s.seed)
        totals = np.exp(rng.uniform(math.log(s.smallest), math.log(s.largest), s.fips))
        shares = rng.pareto(1.2, s.aas) + 0.2
        pair = shares[:, None] * rng.gamma(2.0, 0.5, (s.aas, s.fips))
        pair *= rng.random((s.aas, s.fips)) >= s.missing_pairs
        pair[rng.integers(0, s.aas, s.fips), np.arange(s.fips)] += shares.mean()
        pair /= pair.sum(0)
        api = np.array([_SHARES[name] for name in REQUEST_APIS])
        self.volume = (api / api.sum())[:, None, None] * pair * totals
        low, high = s.base_errors
        base = np.exp(rng.uniform(math.log(low), math.log(high), s.fips))
        self.errors = base * rng.lognormal(0, 0.2, (len(CALL_APIS), 1, s.fips))
        self.errors = self.errors * rng.lognormal(0, 0.15, (1, s.aas, 1))
        self.errors[REQUESTS:] = 0.003 * rng.lognormal(0, 0.3, (NOTICES, s.aas, 1))
        client = np.array([_CLIENT_ERRORS.get(name, 0.015) for name in CALL_APIS])
        self.client = client[:, None, None] * rng.lognormal(0, 0.3, (len(CALL_APIS), 1, s.fips))
        median = np.log(rng.uniform(150, 1500, s.fips))[None] + rng.normal(
            0, 0.4, (len(TIMED_APIS), s.fips)
        )
        median[REQUESTS:] += math.log(20)
        self.median = median[:, None, :] + rng.normal(0, 0.15, (1, s.aas, 1))
        self.sigma = rng.uniform(0.35, 0.8, (1, 1, s.fips))
        self.no_data = np.exp(rng.uniform(math.log(0.01), math.log(0.08), s.fips))
        self.daily_errors = rng.uniform(0, 0.5, s.fips)
        self.wander = rng.normal(0, 1, (3, s.fips))

    def odds(self, window: int) -> Odds:
        """The probabilities of a window in which nothing is wrong."""
        s = self.settings
        self.wander = 0.8 * self.wander + 0.6 * self.rng.normal(0, 1, self.wander.shape)
        shape = (s.aas, s.fips)
        daily = 1 + self.daily_errors * (2 * _daily(window) - 1)
        errors = self.errors * daily * np.exp(s.wobble * self.wander[0])
        errors = errors * self.rng.lognormal(0, s.cell_wobble, errors.shape)
        return Odds(
            failed=np.clip(errors, 0, 0.9),
            client_errors=np.clip(self.client * np.exp(0.2 * self.wander[1]), 0, 0.9)
            * np.ones((1, s.aas, 1)),
            slower=np.ones((len(TIMED_APIS), *shape)),
            slower_share=np.zeros((len(TIMED_APIS), *shape)),
            no_data=np.clip(self.no_data * np.exp(0.2 * self.wander[1]), 0, 0.9) * np.ones(shape),
            arrives=np.full(shape, 0.985),
            silent=np.zeros(s.aas, np.bool_),
            maintained=np.zeros(s.fips, np.bool_),
        )

    def draw(self, window: int, odds: Odds) -> Drawn:
        """Draw the calls of a window and report them."""
        s, rng = self.settings, self.rng
        evidence = empty_evidence(window, s.aas, s.fips)
        load = 0.08 + 0.92 * _daily(window)
        mean = self.volume * load * np.exp(0.15 * self.wander[2])
        calls = np.zeros((len(CALL_APIS), s.aas, s.fips))
        calls[:REQUESTS] = rng.poisson(mean)
        failed, client = self._answers(calls[:REQUESTS], odds, slice(0, REQUESTS))
        accepted = calls[:REQUESTS] - failed - client
        due = rng.binomial(accepted[FIREQ].astype(int), odds.arrives)
        calls[FINOT] = self._delayed("finot", due)
        linked = rng.binomial(accepted[VERIFY].astype(int), odds.arrives)
        calls[FINOT + 1] = self._delayed("alnot", linked)
        calls[FINOT + 2] = rng.poisson(0.04 * mean[FIREQ])
        more = self._answers(calls[REQUESTS:], odds, slice(REQUESTS, None))
        evidence.total[:] = calls
        evidence.failed[:], evidence.client_errors[:] = (
            np.concatenate((failed, more[0])), np.concatenate((client, more[1]))
        )  # fmt: skip
        bad = self._statuses(evidence, calls[FINOT].astype(int), odds)
        timed = np.concatenate((calls[:REQUESTS], (calls[FINOT] - bad)[None], bad[None]))
        self._times(evidence, timed, window, odds)
        evidence.reported[:] = ~odds.silent
        evidence.maintained_fips[:] = odds.maintained
        for part in (evidence.total, evidence.failed, evidence.client_errors, evidence.samples,
                     evidence.percentiles, evidence.statuses):  # fmt: skip
            part[:, odds.silent] = 0
        return Drawn(evidence, odds, calls)

    def _answers(self, calls: Floats, odds: Odds, part: slice) -> tuple[Floats, Floats]:
        client = self.rng.binomial(calls.astype(int), odds.client_errors[part])
        failed = self.rng.binomial((calls - client).astype(int), odds.failed[part])
        return failed.astype(float), client.astype(float)

    def _delayed(self, name: str, due: NDArray[np.int64]) -> Floats:
        """Some notifications come in the next window."""
        late = self.rng.binomial(due, 0.12)
        before = getattr(self, f"_late_{name}", 0)
        setattr(self, f"_late_{name}", late)
        return np.asarray(due - late + before, float)

    def _statuses(self, evidence: Evidence, came: NDArray[np.int64], odds: Odds) -> Floats:
        bad = self.rng.binomial(came, odds.no_data)
        timeout = self.rng.binomial(bad, 0.5)
        status = evidence.statuses
        status[0], status[1] = came - bad, bad
        status[2], status[3], status[5] = came - bad, bad - timeout, timeout
        return np.asarray(bad, float)

    def times(self, window: int) -> Times:
        """Returns the durations of calls in the window whose probabilities were asked for last."""
        s = self.settings
        shift = s.latency_wobble * self.wander[2] + 0.2 * (_daily(window) - 0.5)
        return Times(self.median + shift + np.zeros((1, s.aas, 1)), self.sigma[0, 0])

    def _times(self, evidence: Evidence, timed: Floats, window: int, odds: Odds) -> None:
        """Raw samples, and the four points by nearest rank."""
        rng = self.rng
        counts = timed.astype(int).ravel()
        cell = np.repeat(np.arange(counts.size), counts)
        median = self.times(window).median.ravel()
        sigma = np.broadcast_to(self.sigma, timed.shape).ravel()
        times = np.exp(median[cell] + sigma[cell] * rng.normal(size=cell.size))
        hit = rng.random(cell.size) < odds.slower_share.ravel()[cell]
        times = np.where(hit, times * odds.slower.ravel()[cell], times)
        key = np.sort(cell + np.clip(times, 1, 9e6) / 1e7)
        ends = np.cumsum(counts)
        busy = counts > 0
        for place, share in enumerate((0.5, 0.95, 0.99, 1.0)):
            rank = np.maximum(np.ceil(counts * share - 1e-9).astype(int), 1)
            index = np.where(busy, ends - counts + rank - 1, 0)
            value = (key[index] % 1.0) * 1e7 if key.size else np.zeros(counts.size)
            evidence.percentiles[..., place] = np.where(busy, np.round(value), 0).reshape(
                timed.shape
            )
        evidence.samples[:] = timed


def _daily(window: int) -> float:
    """0 at night to 1 at the busiest hour, 13:00 in India."""
    hour = window % 144 / 6
    return float(((1 + math.cos((hour - 7.5) * math.pi / 12)) / 2) ** 1.5)
