"""bench/truth: seeded faults in simulated networks, and what attribution says of them.

    python -m bench.truth --aas 20 --fips 200 --days 6 --faults 60 --seed 1

Prints a confusion table (true kind x said kind) and the goals. Every network
gets a day and a half to learn, then quiet days, then days with faults.
"""

import argparse
import resource
import sys
import time
from dataclasses import dataclass

import numpy as np

from bench.sizes import sized
from bench.truth_faults import Fault, schedule
from bench.truth_foreign import ForeignNetwork
from bench.truth_network import AnyNetwork, Network, Settings
from bench.truth_oracle import Oracle
from bench.truth_score import Scores, Verdict
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.incidents import REOPEN_WITHIN, Incident, track
from mudra.metrics.attribution.state import new_state

FIRST = 144 * 20_000
DAY = 144


@dataclass
class Plan:
    """The events in one network: windows to learn, quiet days, faults."""

    seed: int
    learn: int
    days: float
    faults: int


def run(network: AnyNetwork, plan: Plan, scores: Scores, *, verbose: bool) -> None:
    """One network: learn, quiet days, faults."""
    count, learned = plan.faults, FIRST + plan.learn
    rng = np.random.default_rng([plan.seed, 7])
    quiet_until = learned + int(plan.days * DAY)
    busy = int(count * 8) + 40 if count else 0
    faults = schedule(network, quiet_until + 4, busy, count, rng) if count else []
    state = new_state(*network.volume.shape[1:])
    oracle = Oracle(*network.volume.shape[1:])
    incidents: tuple[Incident, ...] = ()
    done: list[Incident] = []
    for window in range(FIRST, quiet_until + busy):
        evidence = _draw(network, faults, window, oracle)
        begin = time.process_time()
        evaluation = evaluate_window(evidence, state)
        state = evaluation.state
        incidents = track(incidents, evaluation.causes, window)
        scores.cpu_s += time.process_time() - begin
        scores.windows += 1
        done += [one for one in incidents if _is_past(one, window)]
        incidents = tuple(one for one in incidents if not _is_past(one, window))
        if verbose:
            _say(incidents, evaluation.implausible, window)
    past = [one for one in (*done, *incidents) if one.detected >= learned]
    before = sum(one.detected < learned for one in (*done, *incidents))
    print(f"seed {plan.seed}: {len(past)} incidents, {before} while learning", file=sys.stderr)
    scores.quiet_days += plan.days
    scores.add(faults, past, quiet_until, plan.seed)


def _draw(network: AnyNetwork, faults: list[Fault], window: int, oracle: Oracle) -> Evidence:
    odds = network.odds(window)
    now = [fault for fault in faults if fault.start - 1 < window < fault.end + 1]
    healthy = oracle.healthy(odds) if now else odds
    for fault in now:
        fault.apply(odds, window)
    drawn = network.draw(window, odds)
    for fault in now:
        fault.count(drawn, window)
        fault.lie(drawn, window)
    oracle.look(now, healthy, network.times(window), drawn, window)
    return drawn.evidence


def _is_past(incident: Incident, window: int) -> bool:
    return not incident.is_open and window - incident.ended > REOPEN_WITHIN


def _say(incidents: tuple[Incident, ...], implausible: object, window: int) -> None:
    for one in incidents:
        if one.history[-1].window == window:
            entry = one.history[-1]
            print(f"  {window - FIRST} #{one.number} {entry.change} {entry.locus} "
                  f"{[symptom.name for symptom in entry.symptoms]} since {one.since - FIRST} "
                  f"{one.cause.failures:.0f}/{one.cause.calls:.0f} ({one.cause.expected:.1f}) "
                  f"{one.cause.strength:.0f}")  # fmt: skip
    if implausible:
        print(f"  {window - FIRST} implausible {implausible}")


def _story(verdict: Verdict) -> str:
    """One fault and what was said of it, in a line."""
    fault = verdict.fault
    windows = sorted(fault.hits_by_window)[:4]
    said = "; ".join(
        f"#{one.number} {one.history[-1].locus} at {one.detected - FIRST}"
        for one in verdict.incidents
    )
    times = (verdict.windows_to_detect, verdict.windows_to_close) if verdict.incidents else (0, 0)
    oracle = fault.found_by_oracle - fault.first_hit + 1 if fault.found_by_oracle >= 0 else 0
    return (
        f"seed {verdict.seed} {fault.kind} {fault.start - FIRST:.1f}-{fault.end - FIRST:.1f} "
        f"{fault.strength:.2f} aa {fault.aa} fip {fault.fip} {fault.api} "
        f"hits {fault.hits:.0f}/{fault.in_reach:.0f} first {fault.first_hit - FIRST}: "
        f"{[round(fault.hits_by_window[window]) for window in windows]} "
        f"oracle after {oracle} detected after {times[0]} closed after {times[1]} {said}"
    )


def _network(args: argparse.Namespace, seed: int) -> AnyNetwork:
    if args.foreign:
        return ForeignNetwork(args.aas, args.fips, seed)
    return Network(
        Settings(
            args.aas,
            args.fips,
            seed,
            wobble=args.wobble,
            cell_wobble=args.cell_wobble,
            largest=args.largest,
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(20, 4))
    parser.add_argument("--fips", type=int, default=sized(200, 8))
    parser.add_argument(
        "--days", type=float, default=sized(6, 0.5), help="quiet days for each seed"
    )
    parser.add_argument("--faults", type=int, default=sized(60, 3), help="for each seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--wobble", type=float, default=0.25)
    parser.add_argument("--cell-wobble", type=float, default=0.3)
    parser.add_argument(
        "--learn", type=int, default=sized(216, 24), help="windows before anything counts"
    )
    parser.add_argument("--largest", type=float, default=10_000)
    parser.add_argument("--foreign", action="store_true", help="the networks of truth_foreign")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    scores = Scores()
    for seed in range(args.seed, args.seed + args.seeds):
        plan = Plan(seed, args.learn, args.days, args.faults)
        run(_network(args, seed), plan, scores, verbose=args.verbose)
    scores.print()
    if args.verbose:
        for one in scores.verdicts:
            print(_story(one))
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    main()
