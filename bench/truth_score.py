"""bench/truth: which incident is about which fault, and the figures that follow."""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from bench.truth_faults import NO_FAULT, Fault, FaultKind
from bench.truth_oracle import NO_ORACLE
from mudra.metrics.attribution.causes.cause import Kind, Locus
from mudra.metrics.attribution.incidents import Change, Incident

ENOUGH = 100


_ALLOWED = (
    ("FIP down", {FaultKind.FIP_DOWN, FaultKind.GREEN_LIAR}, 2),
    ("path and AA", {FaultKind.PATH, FaultKind.AA_DOWN}, 2),
    ("drift", {FaultKind.ERROR_DRIFT, FaultKind.TIME_DRIFT}, 9),
    ("flapping", {FaultKind.FLAPPING}, 6),
    ("small FIP down", {FaultKind.SMALL_FIP_DOWN}, 12),
)


_MINUTE = 0.1
_DRIFTS = frozenset({FaultKind.ERROR_DRIFT, FaultKind.TIME_DRIFT})
_DRIFT_WINDOWS = 9
_DRIFT_CALLS = (0, 30, 60, 100, 200, 400, 1000, math.inf)


@dataclass
class Verdict:
    """A fault and what was said of it."""

    fault: Fault
    seed: int = 0
    incidents: list[Incident] = field(default_factory=list)

    @property
    def best(self) -> Incident | None:
        """The incident that names it best: the right name first, then the earliest."""
        return min(
            self.incidents,
            key=lambda one: (not self.is_right(one), one.detected),
            default=None,
        )

    def is_right(self, incident: Incident) -> bool:
        """Returns whether the incident's last name is the fault's true one."""
        return right_name(incident, self.fault)

    @property
    def windows_to_detect(self) -> int:
        """Windows judged from the first call that it hit to the opening, 1 being the best."""
        first = min(one.detected for one in self.incidents)
        return first - self.fault.first_hit + 1

    @property
    def time_to_detect(self) -> float:
        """Windows of time from its first call to the end of the window that opened it."""
        first = min(one.detected for one in self.incidents)
        return first + 1 - max(self.fault.start, float(self.fault.first_hit))

    @property
    def first_thousand(self) -> int | None:
        """The first window in which it hit 1,000 calls."""
        return next(
            (window for window, hits in sorted(self.fault.hits_by_window.items()) if hits >= 1000),
            None,
        )

    @property
    def early_hits(self) -> float:
        """Calls that a drift changed in the 90 minutes from its first on."""
        end = self.fault.first_hit + _DRIFT_WINDOWS
        return sum(hits for window, hits in self.fault.hits_by_window.items() if window < end)

    @property
    def windows_to_close(self) -> int:
        """Good windows until all of its incidents were closed; 99 when they never were."""
        ends = [
            [
                entry.window
                for entry in one.history
                if entry.change in {Change.CLOSED, Change.MERGED}
            ]
            for one in self.incidents
        ]
        return max((max(end) if end else self.fault.last_hit + 99) for end in ends) - (
            self.fault.last_hit
        )

    @property
    def openings(self) -> int:
        """Returns how often something new was opened for it; what is reopened was known."""
        return sum(entry.change is Change.OPENED for one in self.incidents for entry in one.history)


def right_name(incident: Incident, fault: Fault) -> bool:
    """Returns whether the incident ends with a true name of the fault."""
    return any(
        _same(incident.history[index].locus, true) for true in fault.truth for index in (-1,)
    )


def _same(said: Locus, true: Locus) -> bool:
    if (said.kind, said.aa, said.fip) != (true.kind, true.aa, true.fip):
        return False
    return not true.apis or bool(set(said.apis) & set(true.apis)) or bool(
        {"sfireqnot", "ffireqnot", "fireq", "finot"} & set(said.apis) & {"sfireqnot", "ffireqnot"}
        and "finot" in true.apis
    )  # fmt: skip


def is_about(incident: Incident, fault: Fault) -> bool:
    """Returns whether time and place of the incident touch the fault."""
    if not fault.start - 1 <= incident.detected <= fault.end + 4:
        return False
    said = incident.history[0].locus
    last = incident.history[-1].locus
    return any(_touches(place, fault) for place in (said, last))


def _touches(said: Locus, fault: Fault) -> bool:
    if fault.kind is FaultKind.NETWORK:
        return True
    if (said.kind is Kind.AGENT) != (fault.kind is FaultKind.AGENT):
        return False
    if said.kind is Kind.NETWORK:
        return False
    if fault.kind in {FaultKind.PATH, FaultKind.RED_LIAR} or (
        fault.kind is FaultKind.STORM and fault.fip >= 0
    ):
        return (said.fip in {-1, fault.fip}) and (said.aa in {-1, fault.aa})
    if fault.truth[0].fip >= 0:
        return said.fip == fault.fip
    return said.aa == fault.aa


@dataclass
class Scores:
    """All faults and incidents of all seeds."""

    verdicts: list[Verdict] = field(default_factory=list)
    false: list[Incident] = field(default_factory=list)
    quiet_false: list[Incident] = field(default_factory=list)
    quiet_days: float = 0.0
    incidents: int = 0
    right_incidents: int = 0
    windows: int = 0
    cpu_s: float = 0.0

    def add(
        self, faults: Iterable[Fault], incidents: Iterable[Incident], quiet_until: int, seed: int
    ) -> None:
        """Match the incidents of one network with its faults."""
        verdicts = [Verdict(fault, seed) for fault in faults]
        for incident in incidents:
            about = [one for one in verdicts if is_about(incident, one.fault)]
            about.sort(key=lambda one: not one.is_right(incident))
            self.incidents += 1
            if about and about[0].fault.kind not in NO_FAULT:
                about[0].incidents.append(incident)
                self.right_incidents += about[0].is_right(incident)
            elif incident.detected < quiet_until:
                self.quiet_false.append(incident)
            else:
                self.false.append(incident)
                if about:
                    about[0].incidents.append(incident)
        self.verdicts += verdicts

    @property
    def real(self) -> list[Verdict]:
        """Faults that are to be found."""
        return [
            one for one in self.verdicts
            if one.fault.kind not in NO_FAULT and one.fault.kind is not FaultKind.RED_LIAR
            and (one.fault.hits >= ENOUGH or one.fault.kind is FaultKind.AGENT)
        ]  # fmt: skip

    def print(self) -> None:
        """The table and the figures."""
        self._print_table()
        real = self.real
        found = [one for one in real if one.incidents]
        named = [one for one in found if one.best and one.is_right(one.best)]
        wrong = len(self.false) + len(self.quiet_false)
        quiet = len(self.quiet_false)
        print(f"faults {len(self.verdicts)}, with {ENOUGH} calls hit or more {len(real)}")
        print(f"incidents {self.incidents}, about no fault {wrong}, of them on quiet days {quiet}")
        _say("precision", self.incidents - wrong, self.incidents)
        _say("incidents whose name is right", self.right_incidents, self.incidents)
        _say("recall", len(found), len(real))
        _say("cause right", len(named), len(found))
        weekly = 7 * quiet / max(self.quiet_days, 1e-9)
        print(f"false incidents in 7 quiet days {weekly:.2f} ({self.quiet_days:.0f} days)")
        single = [one for one in found if one.fault.kind is not FaultKind.NETWORK]
        _say("one opening only", sum(one.openings == 1 for one in single), len(single))
        _say("closed within 3 good windows", sum(one.windows_to_close <= 3 for one in found),
             len(found))  # fmt: skip
        self._print_times(found)
        self._print_drifts()
        if self.windows:
            print(f"CPU a window {1000 * self.cpu_s / self.windows:.0f} ms")

    def _print_times(self, found: list[Verdict]) -> None:
        """Share of the faults of some kinds that were found in the time that they are allowed."""
        for name, kinds, allowed in _ALLOWED:
            these = [one for one in found if one.fault.kind in kinds]
            if not these:
                continue
            judged = sum(one.windows_to_detect <= allowed for one in these)
            _say(f"{name} within {allowed} windows judged", judged, len(these))
            timely = sum(one.time_to_detect <= allowed + _MINUTE for one in these)
            _say(f"{name} within {allowed} windows of time", timely, len(these))
            possible = [one for one in these if one.fault.kind not in NO_ORACLE]
            if possible:
                early = sum(_oracle_within(one.fault, allowed) for one in possible)
                _say("  of these, by the oracle", early, len(possible))
        large = [
            one for one in found
            if one.fault.kind in _ALLOWED[0][1] and one.first_thousand is not None
        ]  # fmt: skip
        at_once = sum(min(i.detected for i in one.incidents) <= (one.first_thousand or 0)
                      for one in large)  # fmt: skip
        _say("FIP down with the first window of 1,000 calls hit", at_once, len(large))

    def _print_drifts(self) -> None:
        """Drifts by the calls that they changed in their first 90 minutes, found in these."""
        drifts = [one for one in self.verdicts
                  if one.fault.kind in _DRIFTS and one.fault.first_hit >= 0]  # fmt: skip
        for fewest, most in (*pairwise(_DRIFT_CALLS), (ENOUGH, math.inf)):
            these = [one for one in drifts if fewest <= one.early_hits < most]
            timely = sum(bool(one.incidents) and one.windows_to_detect <= _DRIFT_WINDOWS
                         for one in these)  # fmt: skip
            oracle = sum(_oracle_within(one.fault, _DRIFT_WINDOWS) for one in these)
            _say(f"drift of {fewest} to {most} calls in 90 minutes, found in them", timely,
                 len(these))  # fmt: skip
            _say("  by the oracle", oracle, len(these))

    def _print_table(self) -> None:
        said: dict[FaultKind, Counter[str]] = {}
        for one in self.verdicts:
            row = said.setdefault(one.fault.kind, Counter())
            enough = one.fault.hits >= ENOUGH or one.fault.kind is FaultKind.AGENT
            best = one.best
            row["faults"] += 1
            row["enough"] += enough
            if best is None:
                row["-"] += 1
                row["missed"] += enough
            else:
                row[best.history[-1].locus.kind] += 1
                row["right"] += one.is_right(best)
        columns = [*(str(kind) for kind in Kind), "-"]
        print(f"{'true':<22}{'n':>4}{'>=100':>6}{'missed':>7}{'right':>6} |"
              + "".join(f"{name:>9}" for name in columns) + " | detect   close")  # fmt: skip
        for kind in FaultKind:
            if kind not in said:
                continue
            row = said[kind]
            times = [one.windows_to_detect for one in self.verdicts
                     if one.fault.kind is kind and one.incidents]  # fmt: skip
            ends = [one.windows_to_close for one in self.verdicts
                    if one.fault.kind is kind and one.incidents]  # fmt: skip
            counts = (row["faults"], row["enough"], row["missed"], row["right"])
            said_text = "".join(f"{row[name] or '.':>9}" for name in columns)
            print(f"{kind:<22}" + "{:>4}{:>6}{:>7}{:>6} |".format(*counts) + said_text
                  + f" | {_times(times)}  {_times(ends)}")  # fmt: skip


def _oracle_within(fault: Fault, windows: int) -> bool:
    """It may be sooner than the first whole call, since a fault starts with parts of calls."""
    return 0 <= fault.found_by_oracle < fault.first_hit + windows


def _say(name: str, part: int, whole: int) -> None:
    print(f"{name} {part / max(whole, 1):.3f} ({part} of {whole})")


def _times(values: list[int]) -> str:
    return f"{median(values):.0f} ({_p95(values)})" if values else ""


def _p95(values: list[int]) -> int:
    return sorted(values)[min(len(values) - 1, int(0.95 * len(values)))]
