"""bench/watch: what it costs to judge one window, and to keep the state.

    python -m bench.watch --aas 20 --fips 2000

Prints CPU time of a quiet window, of one in which ten FIPs fell, and of reading
and writing the state, for a quarter, half and all of the FIPs: it should grow
in proportion. Then what a report that is late costs for each window after it, from its blocks
(without reading them from the database).
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
from mudra.metrics.attribution.evidence.lanes import APIS, CALL_APIS, TIMED_APIS
from mudra.metrics.attribution.state import State, new_state, state_from_bytes, state_to_bytes
from mudra.metrics.detection.evidence_arrays import evidence_of
from mudra.metrics.detection.window_calls import parts_of, window_calls
from mudra.metrics.detection.window_reports import WindowReports
from mudra.metrics.payload.catalogue import FIRST_4XX, FIRST_5XX, TYPE_OF_API, Position
from mudra.metrics.sums.block_bytes import decoded, encoded
from mudra.metrics.sums.cells import COUNTS, POINTS, Array, Cells, Names
from mudra.metrics.sums.totals import Totals

FIRST = 144 * 20_000 + 45
WARM, ASKS = sized((8, 5), (2, 1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aas", type=int, default=sized(20, 4))
    parser.add_argument("--fips", type=int, default=sized(2000, 40))
    args = parser.parse_args()
    print(f"{'FIPs':>6}{'cells':>9}{'quiet ms':>10}{'10 fell ms':>12}{'load ms':>9}{'save ms':>9}"
          f"{'stored KB':>11}{'B a cell':>10}{'again ms':>10}{'blocks KB':>11}")  # fmt: skip
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
    again, size = late(broken[0], state)
    print(f"{fips:>6}{cells:>9}{_ms(quiet, state):>10.0f}{_ms(broken, state):>12.0f}"
          f"{load:>9.0f}{save:>9.0f}{len(stored) / 1024:>11.0f}{len(stored) / cells:>10.1f}"
          f"{again:>10.0f}{size / 1024:>11.0f}"
          )  # fmt: skip


def late(evidence: Evidence, state: State) -> tuple[float, int]:
    """Milliseconds to judge a window again, and the bytes of its blocks."""
    aas = {f"AA-{place}": place for place in range(evidence.aas)}
    fips = {f"FIP-{place}": place for place in range(evidence.fips)}
    window = datetime.fromtimestamp(evidence.window * 600, UTC)
    calls = calls_of(evidence, tuple(aas), tuple(fips))
    stored = [
        (aa_id, encoded(part, calls.ids)[0])
        for place, aa_id in enumerate(calls.ids)
        if len(part := calls.cells.chosen(calls.cells.keys["aa"] == place))
    ]
    reports = WindowReports(window, frozenset(aas), dict.fromkeys(aas, window), frozenset(aas))

    def again() -> None:
        names = Names()
        parts = [
            parts_of(decoded(numbers, None, names, names.place(aa_id), evidence.window))
            for aa_id, numbers in stored
        ]
        found = window_calls(names.ids, parts)
        evaluate_window(evidence_of(reports, found, aas, fips), state)

    return _median_ms(again), sum(len(numbers) for _, numbers in stored)


def calls_of(evidence: Evidence, aas: tuple[str, ...], fips: tuple[str, ...]) -> Totals:
    """Returns the stored calls of such a window."""
    names = Names((*aas, *fips))
    call, aa, fip = np.argwhere(evidence.total).T
    total, failed, refused = (
        part[call, aa, fip].astype(np.int64)
        for part in (evidence.total, evidence.failed, evidence.client_errors)
    )
    timed = np.array([_TIMED.get(api, -1) for api in CALL_APIS])[call]
    times = np.where(timed >= 0, 1, 0)[:, None] * evidence.percentiles[timed, aa, fip]
    points = np.trunc(times).astype(np.int64).T
    keys = {
        "at": np.full(len(call), evidence.window),
        "aa": aa + 1,
        "type": _TYPES[call],
        "fip": fip + 1 + len(aas),
    }
    sums = {
        COUNTS[Position.TOTAL]: total,
        COUNTS[Position.OK_200]: total - failed - refused,
        COUNTS[FIRST_4XX]: refused,
        COUNTS[FIRST_5XX]: failed,
    }
    by_name = dict(zip(POINTS, points, strict=True))
    return Totals(Cells(keys, sums, points[-1], by_name, None), names.ids)


_TIMED = {api: place for place, api in enumerate(TIMED_APIS)}
_TYPES: Array = np.array([TYPE_OF_API[api].place for api in CALL_APIS])


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
