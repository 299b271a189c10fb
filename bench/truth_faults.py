"""bench/truth: faults of all kinds, with random places, times and strengths."""

import enum
import math
from dataclasses import dataclass, field

import numpy as np

from bench.truth_network import FINOT, REQUESTS, AnyNetwork, Drawn, Floats, Odds
from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.evidence.lanes import CALL_APIS
from mudra.metrics.payload.catalogue import NotificationType, RequestType


class FaultKind(enum.StrEnum):
    """The thing that is broken."""

    FIP_DOWN = "FIP down"
    SMALL_FIP_DOWN = "small FIP down"
    FIP_SLOW = "FIP slow"
    FIP_TAIL = "FIP slow in the tail"
    FIP_API = "one API of a FIP"
    PATH = "path"
    AA_DOWN = "AA outward"
    AA_API = "one API of an AA"
    NETWORK = "network"
    AGENT = "agent silent"
    ERROR_DRIFT = "drift of errors"
    TIME_DRIFT = "drift of time"
    STORM = "4xx storm"
    OUTCOMES = "FI outcomes"
    MISSING = "notifications missing"
    FLAPPING = "flapping"
    GREEN_LIAR = "FIP down, an AA lies"
    RED_LIAR = "an AA lies of a FIP"
    BLIP = "blip"
    MAINTENANCE = "maintenance"


NO_FAULT = frozenset({FaultKind.BLIP, FaultKind.MAINTENANCE})
"""Nothing must be said of these."""
_OF_FIP = frozenset(
    {FaultKind.FIP_DOWN, FaultKind.SMALL_FIP_DOWN, FaultKind.FIP_SLOW, FaultKind.FIP_TAIL,
     FaultKind.ERROR_DRIFT, FaultKind.TIME_DRIFT, FaultKind.FLAPPING, FaultKind.GREEN_LIAR,
     FaultKind.BLIP, FaultKind.MAINTENANCE}
)  # fmt: skip
_CALLS = slice(0, REQUESTS)
_OF_AN_AA = [NotificationType.FI, RequestType.FI_FETCH, RequestType.ACCOUNT_DISCOVERY]
_OF_A_FIP = [
    RequestType.ACCOUNT_DISCOVERY,
    RequestType.ACCOUNT_LINK,
    RequestType.CONSENT,
    RequestType.FI_REQUEST,
    RequestType.FI_FETCH,
]


@dataclass
class Fault:
    """One fault; times are in windows, with fractions."""

    kind: FaultKind
    start: float
    end: float
    strength: float
    aa: int = -1
    fip: int = -1
    api: str | None = None
    hits: float = 0.0
    """Calls that it changed."""
    in_reach: float = 0.0
    """Calls in its place while it lasted."""
    first_hit: int = -1
    hits_by_window: dict[int, float] = field(default_factory=dict)
    last_hit: int = -1
    found_by_oracle: int = -1
    """The window in which it can be found at the soonest; -1 if never, or not known."""

    @property
    def truth(self) -> tuple[Locus, ...]:  # noqa: PLR0911 - one place per kind
        """The right names of the cause."""
        if self.kind in _OF_FIP:
            return (Locus(Kind.FIP, -1, self.fip),)
        if self.kind in {FaultKind.PATH, FaultKind.RED_LIAR}:
            return (Locus(Kind.PATH, self.aa, self.fip),)
        if self.kind is FaultKind.AA_DOWN:
            return (Locus(Kind.AA, self.aa),)
        if self.kind is FaultKind.AGENT:
            return (Locus(Kind.AGENT, self.aa),)
        if self.kind is FaultKind.NETWORK:
            return (Locus(Kind.NETWORK),)
        if self.kind is FaultKind.STORM:
            place = Locus(Kind.AA, self.aa) if self.fip < 0 else Locus(Kind.PATH, self.aa, self.fip)
            return (place,)
        apis = (self.api,) if self.api else ()
        if self.kind is FaultKind.AA_API:
            return (Locus(Kind.AA_API, self.aa, -1, apis),)
        named = Locus(Kind.FIP_API, -1, self.fip, apis)
        if self.kind in {FaultKind.OUTCOMES, FaultKind.MISSING}:
            return (named, Locus(Kind.FIP, -1, self.fip))
        return (named,)

    def share(self, window: int) -> float:
        """Returns how much of a window it covers."""
        if self.kind is FaultKind.FLAPPING:
            return float(np.mean([self._on(window + (i + 0.5) / 20) for i in range(20)]))
        return max(0.0, min(self.end, window + 1) - max(self.start, window))

    def _on(self, moment: float) -> bool:
        period = 2.0 + 2.0 * (self.strength % 0.1) / 0.1
        inside = self.start <= moment < self.end
        return inside and (moment - self.start) % (2 * period) < period

    def apply(self, odds: Odds, window: int) -> None:  # noqa: C901 - one arm per kind
        """Change the probabilities of a window."""
        share = self.share(window)
        if share <= 0:
            return
        aa = slice(None) if self.aa < 0 else slice(self.aa, self.aa + 1)
        fip = slice(None) if self.fip < 0 else slice(self.fip, self.fip + 1)
        level = self.strength
        match self.kind:
            case FaultKind.AGENT:
                odds.silent[self.aa] |= share > 0.5
            case FaultKind.FIP_SLOW | FaultKind.FIP_TAIL | FaultKind.TIME_DRIFT:
                factor = 10.0 if self.kind is FaultKind.FIP_TAIL else 1 + level * 6
                portion = share * (0.04 + 0.06 * level if self.kind is FaultKind.FIP_TAIL else 1)
                if self.kind is FaultKind.TIME_DRIFT:
                    factor = math.exp(self._ramp(window) * math.log(factor))
                odds.slower[:, aa, fip] = np.maximum(odds.slower[:, aa, fip], factor)
                odds.slower_share[:, aa, fip] = portion
            case FaultKind.STORM:
                part = odds.client_errors[_CALLS, aa, fip]
                odds.client_errors[_CALLS, aa, fip] = np.maximum(
                    part, part + share * level * (0.9 - part)
                )
            case FaultKind.OUTCOMES:
                part = odds.no_data[aa, fip]
                odds.no_data[aa, fip] = part + share * level * (1 - part)
            case FaultKind.MISSING:
                odds.arrives[aa, fip] *= 1 - share * level
            case FaultKind.FIP_API | FaultKind.AA_API:
                assert self.api is not None
                self._fail(
                    odds,
                    slice(CALL_APIS.index(self.api), CALL_APIS.index(self.api) + 1),
                    share * level,
                )
            case FaultKind.ERROR_DRIFT:
                self._fail(odds, _CALLS, share * level * self._ramp(window))
            case FaultKind.RED_LIAR:
                pass
            case _:
                self._fail(odds, _CALLS, share * level)
                odds.maintained[fip] |= self.kind is FaultKind.MAINTENANCE
                if self.kind in {
                    FaultKind.FIP_DOWN,
                    FaultKind.SMALL_FIP_DOWN,
                    FaultKind.GREEN_LIAR,
                }:
                    odds.arrives[aa, fip] *= 1 - share * level

    def _ramp(self, window: int) -> float:
        return min(1.0, (window + 1 - self.start) / (0.7 * (self.end - self.start)))

    def _fail(self, odds: Odds, apis: slice, level: float) -> None:
        aa = (
            slice(None)
            if self.aa < 0 or self.kind is FaultKind.GREEN_LIAR
            else slice(self.aa, self.aa + 1)
        )
        fip = slice(None) if self.fip < 0 else slice(self.fip, self.fip + 1)
        odds.failed[apis, aa, fip] += level * (1 - odds.failed[apis, aa, fip])

    def lie(self, drawn: Drawn, window: int) -> None:
        """Change what the liar reports."""
        if self.share(window) <= 0:
            return
        evidence = drawn.evidence
        total, failed = evidence.total, evidence.failed
        if self.kind is FaultKind.GREEN_LIAR:
            failed[_CALLS, self.aa, self.fip] = 0
            total[_CALLS, self.aa, self.fip] = total[_CALLS, self.aa, self.fip] * 3 + 200
        if self.kind is FaultKind.RED_LIAR:
            total[_CALLS, self.aa, self.fip] += 20
            failed[_CALLS, self.aa, self.fip] = (total - evidence.client_errors)[
                _CALLS, self.aa, self.fip
            ]

    def count(self, drawn: Drawn, window: int) -> None:
        """Count the calls that it changed in this window."""
        share = self.share(window)
        if share <= 0:
            return
        aa = (
            slice(None)
            if self.aa < 0 or self.kind is FaultKind.GREEN_LIAR
            else slice(self.aa, self.aa + 1)
        )
        fip = slice(None) if self.fip < 0 else slice(self.fip, self.fip + 1)
        calls = drawn.calls
        level = self.strength
        reach = calls[_CALLS, aa, fip].sum()
        if self.kind in {FaultKind.OUTCOMES, FaultKind.MISSING}:
            reach = (
                calls[FINOT, aa, fip].sum()
                if self.kind is FaultKind.OUTCOMES
                else calls[CALL_APIS.index(RequestType.FI_REQUEST), aa, fip].sum()
            )
        elif self.api is not None:
            reach = calls[CALL_APIS.index(self.api), aa, fip].sum()
        if self.kind is FaultKind.FIP_TAIL:
            level = 0.04 + 0.06 * level
        elif self.kind in {FaultKind.FIP_SLOW, FaultKind.AGENT}:
            level = 1.0
        elif self.kind is FaultKind.ERROR_DRIFT:
            level *= self._ramp(window)
        elif self.kind is FaultKind.TIME_DRIFT:
            level = float(self._ramp(window) > 0.2)
        hits = share * level * float(reach)
        self.in_reach += share * float(reach)
        self.hits += hits
        self.hits_by_window[window] = hits
        if hits >= 1 or (self.hits >= 1 and hits > 0):
            self.first_hit = window if self.first_hit < 0 else self.first_hit
            self.last_hit = window


def schedule(
    network: AnyNetwork, first: int, windows: int, count: int, rng: np.random.Generator
) -> list[Fault]:
    """Faults of all kinds in turn, at random times; no two at once at one AA or FIP."""
    kinds = [kind for kind in FaultKind if kind is not FaultKind.NETWORK] * (count // 19 + 1)
    order = rng.permutation(len(kinds))[:count]
    chosen = [kinds[i] for i in order]
    if count >= 30:
        chosen[0] = FaultKind.NETWORK
    by_fip = network.volume.sum((0, 1)) * 0.4
    faults: list[Fault] = []
    for kind in chosen:
        for _ in range(200):
            fault = _fault(kind, network, by_fip, first, windows, rng)
            if not any(_in_the_way(fault, other) for other in faults):
                faults.append(fault)
                break
    return sorted(faults, key=lambda fault: fault.start)


def _in_the_way(one: Fault, other: Fault) -> bool:
    apart = one.start > other.end + 22 or other.start > one.end + 22
    if apart:
        return False
    if FaultKind.NETWORK in {one.kind, other.kind}:
        return True
    same_fip = one.fip >= 0 and one.fip == other.fip
    same_aa = one.aa >= 0 and one.aa == other.aa
    return same_fip or same_aa


def _fault(  # noqa: C901, PLR0912 - one arm per kind
    kind: FaultKind,
    network: AnyNetwork,
    by_fip: Floats,
    first: int,
    windows: int,
    rng: np.random.Generator,
) -> Fault:
    aas = network.volume.shape[1]
    length = rng.uniform(6, 18)
    strength = rng.uniform(0.6, 1.0)
    start = first + rng.uniform(0, max(windows - 34, 1))
    aa, fip, api = -1, -1, None
    large = np.flatnonzero(by_fip >= min(10.0, float(np.quantile(by_fip, 0.6))))
    small = np.flatnonzero(by_fip < 4)
    any_fip = int(rng.choice(large))
    busy_aa = int(np.argmax(network.volume[:, :, any_fip].sum(0) * rng.random(aas)))
    match kind:
        case FaultKind.SMALL_FIP_DOWN:
            fip, strength, length = int(rng.choice(small if small.size else large)), 1.0, 24
        case FaultKind.PATH | FaultKind.RED_LIAR | FaultKind.GREEN_LIAR:
            aa, fip = busy_aa, any_fip
            strength = rng.uniform(0.5, 1.0) if kind is FaultKind.PATH else 1.0
        case FaultKind.AA_DOWN | FaultKind.AGENT:
            aa, strength = int(rng.integers(aas)), rng.uniform(0.4, 1.0)
        case FaultKind.AA_API:
            aa, strength = int(rng.integers(aas)), rng.uniform(0.4, 1.0)
            api = str(rng.choice(_OF_AN_AA))
        case FaultKind.STORM:
            aa, strength = busy_aa, rng.uniform(0.4, 0.9)
            fip = any_fip if rng.random() < 0.5 else -1
        case FaultKind.NETWORK:
            strength = rng.uniform(0.4, 1.0)
        case FaultKind.FIP_API:
            fip, strength = any_fip, rng.uniform(0.3, 1.0)
            api = str(rng.choice(_OF_A_FIP))
        case FaultKind.OUTCOMES | FaultKind.MISSING:
            fip, strength, api = any_fip, rng.uniform(0.4, 0.95), NotificationType.FI
        case FaultKind.ERROR_DRIFT | FaultKind.TIME_DRIFT:
            fip, strength, length = any_fip, rng.uniform(0.3, 0.8), rng.uniform(15, 24)
        case FaultKind.FIP_SLOW | FaultKind.FIP_TAIL:
            fip, strength = any_fip, rng.uniform(0.35, 1.0)
        case FaultKind.FLAPPING:
            fip, length = any_fip, rng.uniform(15, 30)
        case FaultKind.BLIP:
            fip, strength, length = any_fip, rng.uniform(0.2, 0.8), 1.0
            start = math.floor(start)
        case _:
            fip = any_fip
    return Fault(kind, start, start + length, float(strength), aa, fip, api)
