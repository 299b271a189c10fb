"""bench/watch: what it costs to judge one window, and to keep the state.

    python -m bench.watch --aas 20 --fips 2000

Prints CPU time of a quiet window, of one in which ten FIPs fell, and of reading
and writing the state, for a quarter, half and all of the FIPs: it should grow
in proportion.
"""

import argparse
import statistics
import time

from bench.sizes import sized
from bench.truth_faults import Fault, FaultKind
from bench.truth_network import Network, Settings
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import APIS
from mudra.metrics.attribution.state import State, new_state, state_from_bytes, state_to_bytes

FIRST = 144 * 20_000 + 45
WARM = 8
ASKS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(20, 4))
    parser.add_argument("--fips", type=int, default=sized(2000, 40))
    args = parser.parse_args()
    print(f"{'FIPs':>6}{'cells':>9}{'quiet ms':>10}{'10 fell ms':>12}{'load ms':>9}{'save ms':>9}"
          f"{'stored KB':>11}{'B a cell':>10}")  # fmt: skip
    for fips in (args.fips // 4, args.fips // 2, args.fips):
        measure(args.aas, fips)


def measure(aas: int, fips: int) -> None:
    """One line of the table."""
    network = Network(Settings(aas, fips, 1))
    state = new_state(aas, fips)
    for window in range(FIRST, FIRST + WARM):
        state = evaluate_window(_evidence(network, window, ()), state).state
    after = FIRST + WARM
    quiet = [_evidence(network, after, ()) for _ in range(ASKS)]
    largest = network.volume.sum((0, 1)).argsort()[::-1][:10]
    fallen = [Fault(FaultKind.FIP_DOWN, after - 9, after + 9, 1.0, -1, int(fip)) for fip in largest]
    broken = [_evidence(network, after, tuple(fallen)) for _ in range(ASKS)]
    begin = time.process_time()
    stored = state_to_bytes(state)
    saved = time.process_time()
    state = state_from_bytes(stored)
    loaded = time.process_time()
    cells = aas * fips * len(APIS)
    load, save = 1000 * (loaded - saved), 1000 * (saved - begin)
    print(f"{fips:>6}{cells:>9}{_ms(quiet, state):>10.0f}{_ms(broken, state):>12.0f}"
          f"{load:>9.0f}{save:>9.0f}{len(stored) / 1024:>11.0f}{len(stored) / cells:>10.1f}"
          )  # fmt: skip


def _ms(windows: list[Evidence], state: State) -> float:
    times = []
    for evidence in windows:
        begin = time.process_time()
        evaluate_window(evidence, state)
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times)


def _evidence(network: Network, window: int, faults: tuple[Fault, ...]) -> Evidence:
    odds = network.odds(window)
    for fault in faults:
        fault.apply(odds, window)
    return network.draw(window, odds).evidence


if __name__ == "__main__":
    main()
