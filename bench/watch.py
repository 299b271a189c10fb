"""bench/watch: what it costs to judge one window, and to keep the state.

    python -m bench.watch --aas 20 --fips 2000

Prints CPU time of a quiet window, of one in which ten FIPs fell, and of reading
and writing the state, for a quarter, half and all of the FIPs: it should grow
in proportion. Then what a report that is late costs for each window after it, from the
packed calls, and what it would cost from the rows (without reading them).
"""

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from bench.sizes import sized
from bench.truth_faults import Fault, FaultKind
from bench.truth_network import Network, Settings
from mudra.metrics.attribution.engine import evaluate_window
from mudra.metrics.attribution.evidence.evidence import Evidence
from mudra.metrics.attribution.evidence.lanes import APIS, CALL_APIS, TIMED_APIS, Api
from mudra.metrics.attribution.state import State, new_state, state_from_bytes, state_to_bytes
from mudra.metrics.incidents.evidence_arrays import evidence_of
from mudra.metrics.incidents.window_calls import calls_from_bytes, calls_to_bytes, window_calls
from mudra.metrics.incidents.window_reports import CallSums, WindowReports

FIRST = 144 * 20_000 + 45
WARM, ASKS = sized((8, 5), (2, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(20, 4))
    parser.add_argument("--fips", type=int, default=sized(2000, 40))
    args = parser.parse_args()
    print(f"{'FIPs':>6}{'cells':>9}{'quiet ms':>10}{'10 fell ms':>12}{'load ms':>9}{'save ms':>9}"
          f"{'stored KB':>11}{'B a cell':>10}{'again ms':>10}{'rows ms':>10}"
          f"{'packed KB':>11}")  # fmt: skip
    for fips in (args.fips // 4, args.fips // 2, args.fips):
        measure(args.aas, fips)


def measure(aas: int, fips: int) -> None:
    """One line of the table."""
    network = Network(Settings(aas, fips, 1))
    state = new_state(aas, fips)
    for window in range(FIRST, FIRST + WARM):
        state = evaluate_window(evidence_at(network, window, ()), state).state
    after = FIRST + WARM
    quiet = [evidence_at(network, after, ()) for _ in range(ASKS)]
    largest = network.volume.sum((0, 1)).argsort()[::-1][:10]
    fallen = [Fault(FaultKind.FIP_DOWN, after - 9, after + 9, 1.0, -1, int(fip)) for fip in largest]
    broken = [evidence_at(network, after, tuple(fallen)) for _ in range(ASKS)]
    begin = time.process_time()
    stored = state_to_bytes(state)
    saved = time.process_time()
    state = state_from_bytes(stored)
    loaded = time.process_time()
    cells = aas * fips * len(APIS)
    load, save = 1000 * (loaded - saved), 1000 * (saved - begin)
    again, first, size = late(broken[0], state)
    print(f"{fips:>6}{cells:>9}{_ms(quiet, state):>10.0f}{_ms(broken, state):>12.0f}"
          f"{load:>9.0f}{save:>9.0f}{len(stored) / 1024:>11.0f}{len(stored) / cells:>10.1f}"
          f"{again:>10.0f}{first:>10.0f}{size / 1024:>11.0f}"
          )  # fmt: skip


def late(evidence: Evidence, state: State) -> tuple[float, float, int]:
    """Milliseconds to judge a window again, milliseconds from its rows, and its packed bytes."""
    aas = {f"AA-{place}": place for place in range(evidence.aas)}
    fips = {f"FIP-{place}": place for place in range(evidence.fips)}
    window = datetime.fromtimestamp(evidence.window * 600, UTC)
    rows = rows_of(evidence, window, tuple(aas), tuple(fips))
    packed = calls_to_bytes(window_calls(rows))
    reports = WindowReports(
        window, packed, frozenset(aas), dict.fromkeys(aas, window), frozenset(aas)
    )

    def again() -> None:
        evaluate_window(evidence_of(reports, calls_from_bytes(packed), aas, fips), state)

    def from_rows() -> None:
        evaluate_window(evidence_of(reports, window_calls(rows), aas, fips), state)

    return _median_ms(again), _median_ms(from_rows), len(packed)


def rows_of(
    evidence: Evidence, window: datetime, aas: tuple[str, ...], fips: tuple[str, ...]
) -> list[CallSums]:
    """The rows that storage has of such a window."""
    rows = []
    for call, api in enumerate(CALL_APIS):
        tag, name = ("not", "cnot") if api is Api.CONSENT_RECEIVED else ("req", api.value)
        for aa, fip in np.argwhere(evidence.total[call]):
            total, failed, client = (
                int(part[call, aa, fip])
                for part in (evidence.total, evidence.failed, evidence.client_errors)
            )
            points = (
                evidence.percentiles[TIMED_APIS.index(api), aa, fip].astype(int).tolist()
                if api in TIMED_APIS else None
            )  # fmt: skip
            rows.append(CallSums(window, aas[aa], fips[fip], tag, name, total,
                                 total - failed - client, client, total, points, None))  # fmt: skip
    return rows


def _median_ms(work: Callable[[], None]) -> float:
    times = []
    for _ in range(ASKS):
        begin = time.process_time()
        work()
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times)


def _ms(windows: list[Evidence], state: State) -> float:
    times = []
    for evidence in windows:
        begin = time.process_time()
        evaluate_window(evidence, state)
        times.append(1000 * (time.process_time() - begin))
    return statistics.median(times)


def evidence_at(network: Network, window: int, faults: tuple[Fault, ...]) -> Evidence:
    odds = network.odds(window)
    for fault in faults:
        fault.apply(odds, window)
    return network.draw(window, odds).evidence


if __name__ == "__main__":
    main()
