"""Metrics as blocks: bytes of a cell, and the CPU of sums and questions, without a database.

    python -m bench.blocks [FIPS]

A simulated network of 20 AAs and FIPS (2,000) FIPs, of which every type has calls in nearly every
window, and another in which a quarter of them have. Printed are the bytes of a cell as they are
compressed, and the CPU of what a report, an hour and three questions take: from bytes to rows, next
to `json.loads` of the same reports, or of a body of 22,000 rows for a question about 28,000 cells
of 24 hours. Reading from PostgreSQL is not in it.
"""

import json
import random
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from msgspec.structs import replace

from bench.sizes import argument, exit_code, sized
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.report import RequestMetrics, encode_report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums import report_cells
from mudra.metrics.sums.adding import RunningSum, added
from mudra.metrics.sums.block_bytes import decoded, encoded
from mudra.metrics.sums.buckets import fan_of, split
from mudra.metrics.sums.cells import Cells, Names
from mudra.metrics.sums.totals import Totals

FIPS: Final = int(argument(1, 2000, 20))
AAS: Final = sized(20, 2)
DRAWN: Final = sized(4, 2)
"""So many AAs are simulated; the others report what they do."""
BUSIEST: Final = 60
"""Calls of the busiest pair in the busiest window: ten in an average cell."""
START: Final = datetime(2026, 3, 4, 6, tzinfo=UTC)
HOURS: Final = 24
BODY_ROWS: Final = 22_000
RUNS: Final = sized(5, 1)


class Stored(NamedTuple):
    """Cells as bytes, by bucket."""

    cells: int
    parts: Sequence[tuple[bytes, bytes]]

    @property
    def a_cell(self) -> float:
        """Bytes of a cell."""
        return sum(len(one) for part in self.parts for one in part) / max(self.cells, 1)

    def read(self, names: Names, aa: int = 1, at: int = 0) -> Sequence[Cells]:
        """The cells again."""
        return [decoded(*part, names, aa, at) for part in self.parts]


class Reports(NamedTuple):
    """The request metrics of the six windows of an hour of one AA."""

    bodies: Sequence[bytes]
    checked: Sequence[CheckedReport]
    notifications: Sequence[CheckedReport]


def reports(seed: int, share: float = 1.0) -> Reports:
    """The reports of an AA, of which a share of all cells has calls."""
    traffic = Traffic([f"BANK-{place:04}" for place in range(FIPS)], BUSIEST)
    dice = random.Random(seed)
    found: dict[Tag, list[tuple[bytes, CheckedReport]]] = {tag: [] for tag in Tag}
    for at in (START + place * WINDOW for place in range(6)):
        requests = traffic.requests("AA-01", at, str(uuid.uuid4()), dice)
        for made in (
            thinned(requests, share, dice),
            traffic.notifications("AA-01", at, str(uuid.uuid4()), dice),
        ):
            body = encode_report(made)
            checked = check_report(body, at + 2 * WINDOW)
            assert isinstance(checked, CheckedReport), checked
            found[checked.tag].append((body, checked))
    bodies, checks = zip(*found[Tag.REQUESTS], strict=True)
    return Reports(bodies, checks, [one for _, one in found[Tag.NOTIFICATIONS]])


def thinned(report: RequestMetrics, share: float, dice: random.Random) -> RequestMetrics:
    """The same with a share of its cells."""
    fips = (
        replace(fip, metrics=tuple(block for block in fip.metrics if dice.random() < share))
        for fip in report.fips
    )
    return replace(report, fips=tuple(fip for fip in fips if fip.metrics))


def stored(cells: Cells, names: Names) -> Stored:
    """The stored bytes of these sums."""
    fan = fan_of(len(cells))
    return Stored(
        len(cells), [encoded(part, names.ids) for _, part in split(cells, names.ids, fan)]
    )


def sent(checked: CheckedReport) -> Stored:
    """The stored bytes of a report."""
    blocks = sum(len(fip.metrics) for fip in checked.report.fips)
    return Stored(blocks, [(numbers, b"") for _, numbers in report_cells.encode_report(checked)])


def hour_of(windows: Sequence[Stored], names: Names) -> Cells:
    """The sums of an hour of one AA."""
    return added([part for one in windows for part in one.read(names)], ("type", "fip"))


def together(parts: Sequence[Cells]) -> Cells:
    """The sums of some hours or AAs."""
    total = RunningSum(("type", "fip"))
    for part in parts:
        total.add(part)
    return total.total()


def cpu_ms(act: Callable[[], object]) -> float:
    """The least CPU of some runs, in milliseconds."""
    found = []
    for _ in range(RUNS):
        began = time.process_time()
        act()
        found.append(time.process_time() - began)
    return max(min(found), 1e-6) * 1000


def print_bytes(drawn: Sequence[Sequence[Stored]], names: Names) -> tuple[bool, Stored, Stored]:
    """Print bytes of a cell; gives whether the goals are met, an hour of an AA, and of all AAs."""
    quarter = [sent(one) for one in reports(0, 0.25).checked]
    hours = [hour_of(windows, names) for windows in drawn]
    day = together([hours[place % DRAWN] for place in range(HOURS)])
    every_hour = together([hours[place % DRAWN] for place in range(AAS)])
    every_day = together([every_hour] * HOURS)
    rows = (
        ("window, every cell has calls", drawn[0][0], 6),
        ("window, a quarter of them", quarter[0], 12),
        ("hour of an AA", stored(hours[0], names), 15),
        ("day of an AA", stored(day, names), 40),
        ("hour over all AAs", stored(every_hour, names), 40),
        ("day over all AAs", stored(every_day, names), 60),
    )
    print("bytes of a cell (goal):")
    for name, one, goal in rows:
        print(f"  {name:<32}{one.a_cell:6.1f} ({goal}), {one.cells:,} cells")
    return all(one.a_cell <= goal for _, one, goal in rows), rows[2][1], rows[4][1]


def in_hours(one: Stored, by: Sequence[str]) -> int:
    """Ask for the sums of a day of hours, and read each row; gives how many there are."""
    names = Names()
    total = RunningSum(by)
    for hour in range(HOURS):
        for part in one.read(names, at=6 * hour):
            total.add(part)
    return sum(1 for _ in Totals(total.total(), names.ids).items())


def print_cpu(one: Reports, windows: Sequence[Stored], hour: Stored, every_hour: Stored) -> bool:
    """Print the CPU of a report, an hour and three questions; gives whether the goals are met."""
    loads = cpu_ms(lambda: json.loads(one.bodies[0]))
    body = loads * BODY_ROWS / windows[0].cells
    names = Names()
    whole = added(hour.read(names))
    rows = (
        ("a report as bytes", lambda: report_cells.encode_report(one.checked[0]), 1.0, loads),
        ("an hour of six windows", lambda: hour_of(windows, Names()), 1.5, loads * 6),
        ("one AA by FIP, 24 hours", lambda: in_hours(hour, ("type", "fip")), 20, body),
        ("all FIPs by API, 24 hours", lambda: in_hours(every_hour, ("type", "fip")), 40, body),
        ("all FIPs, all APIs, 24 hours", lambda: in_hours(every_hour, ("fip",)), 40, body),
        ("rows of an hour", lambda: [*Totals(whole, names.ids).items()], 4, body),
    )
    print(f"json.loads of a report of {windows[0].cells:,} rows: {loads:.1f} ms of CPU")
    print("CPU ÷ json.loads of the reports, or of a body of 22,000 rows for questions (goal):")
    met = True
    for name, act, goal, base in rows:
        took = cpu_ms(act)
        met &= took / base <= goal
        print(f"  {name:<32}{took:8.1f} ms {took / base:6.2f} ({goal})")
    return met


def main() -> int:
    names = Names()
    drawn = [reports(seed) for seed in range(DRAWN)]
    windows = [
        [sent(one) for each in zip(aa.checked, aa.notifications, strict=True) for one in each]
        for aa in drawn
    ]
    small, hour, every_hour = print_bytes(windows, names)
    fast = print_cpu(drawn[0], windows[0], hour, every_hour)
    print(f"every goal of blocks met: {small and fast}")
    return exit_code(met=small and fast)


if __name__ == "__main__":
    raise SystemExit(main())
