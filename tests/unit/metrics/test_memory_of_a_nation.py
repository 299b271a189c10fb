"""What the figures of a nation cost in memory, counted at a smaller size: bytes of each number.

A worker may take 150 MB and the jobs 250 (bench/long_ranges, bench/soak measure processes).
"""

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import numpy as np

from mudra.metrics.detection.fip_counts import APIS, FIELDS, FipCounts
from mudra.metrics.detection.fip_test import fip_states
from mudra.metrics.detection.window_calls import Part, Parts, WindowCalls, window_calls
from mudra.metrics.health.level_change import level_changes
from mudra.metrics.health.own_calls import ALL, Field, OwnCalls, own_to_bytes, own_with_hours
from mudra.metrics.public_status.status_history import DayOfFips, days_of_fips
from mudra.metrics.sums.adding import RunningSum
from mudra.metrics.sums.buckets import split
from mudra.metrics.sums.cells import KEYS, Cells, Rises
from mudra.metrics.sums.totals import Totals

START, HOUR = datetime(2026, 3, 1, tzinfo=UTC), timedelta(hours=1)


def memory_of(act: Callable[[], object]) -> tuple[int, int]:
    """Bytes that are kept as long as the result, and the most that there were meanwhile."""
    gc.collect()
    tracemalloc.start()
    try:
        kept = act()
        now, most = tracemalloc.get_traced_memory()
        del kept
    finally:
        tracemalloc.stop()
    return now, most


def part_of_a_sum(seed: int) -> Cells:
    """A thousand sums, each with twenty cells of time."""
    rows, rises = 1000, 20
    dice = np.random.default_rng(seed)
    keys = {name: dice.integers(0, 14, rows) for name in KEYS}
    sums = {f"c{place}": dice.integers(0, 900, rows) for place in range(8)}
    place = np.tile(np.arange(40, 40 + rises), rows)
    calls = dice.integers(1, 90, rows * rises)
    return Cells(keys, sums, keys["at"], None, Rises(np.full(rows, rises), place, calls))


def test_of_many_parts_of_a_sum_few_are_in_memory() -> None:
    def summed() -> Cells:
        total = RunningSum(("aa", "type"))
        for seed in range(120):
            total.add(part_of_a_sum(seed))
        return total.total()

    part_of_a_sum(0)  # what is first needed is loaded
    _, most = memory_of(summed)

    assert most < 16_000_000  # all parts together take 50


def test_a_sum_is_split_into_buckets_one_by_one() -> None:
    cells, ids = part_of_a_sum(0), [f"BANK-{place}" for place in range(14)]
    assert cells.rises is not None

    def buckets() -> list[int]:
        return [bucket for bucket, _ in split(cells, ids, 8)]

    buckets()  # what is first needed is loaded
    _, most = memory_of(buckets)

    assert most < cells.rises.place.nbytes + cells.rises.calls.nbytes


def test_states_of_institutions_are_made_of_one_window_at_a_time() -> None:
    dice, fips = np.random.default_rng(1), tuple(f"BANK-{place:04}" for place in range(200))
    shape = (FIELDS, len(APIS), len(fips))
    recent = [FipCounts(fips, dice.random(shape, np.float32)) for _ in range(36)]

    _, most = memory_of(lambda: fip_states(START, recent, (), None))

    assert most < sum(one.sums.nbytes for one in recent)


def test_blocks_that_were_taken_are_let_go() -> None:
    def taken() -> WindowCalls:
        calls = window_calls(("",), [block_of(1000) for _ in range(20)])
        assert sum(one.counts.values.shape[1] for one in calls.blocks) == 20_000
        return calls

    kept, _ = memory_of(taken)

    assert kept < 20_000


def block_of(cells: int) -> Parts:
    """The arrays of a block with so many cells."""
    part = Part(np.zeros((3, cells), np.int32), np.zeros((3, cells), np.float32))
    return Parts(part, part, part)


def own_hour(fips: int, seed: int = 1) -> OwnCalls:
    dice = np.random.default_rng(seed)
    counts = dice.integers(300, 900, (len(Field), ALL + 1, fips))
    counts[Field.FAILED] = counts[Field.ELIGIBLE] // 70
    return OwnCalls(tuple(f"BANK-{fip:04}" for fip in range(fips)), counts)


def test_nine_days_of_hours_are_compared_in_a_quarter_of_their_bytes() -> None:
    fips, hours = 500, 60

    def decoded() -> Iterator[tuple[datetime, OwnCalls]]:
        for place in range(hours):
            yield START + place * HOUR, own_hour(fips, place % 2)

    _, most = memory_of(lambda: level_changes(decoded(), ()))

    assert most < hours * own_hour(fips).counts.nbytes / 2


def test_of_the_hours_of_a_day_only_the_calls_of_all_types_are_kept() -> None:
    stored = {START + hour * HOUR: own_to_bytes(own_hour(200, hour % 2)) for hour in range(24)}

    kept, most = memory_of(lambda: own_with_hours(stored, START))

    whole = own_hour(200).counts.nbytes
    assert kept < 4 * whole
    assert most < 12 * whole


def test_a_public_day_of_an_institution_takes_a_hundred_bytes() -> None:
    fips, days = 400, 12

    def public_days() -> list[DayOfFips]:
        return [a_public_day(fips, START + place * 24 * HOUR) for place in range(days)]

    a_public_day(fips, START)  # what is first needed is loaded
    kept, _ = memory_of(public_days)

    assert kept / fips / days < 130


def a_public_day(fips: int, day: datetime) -> DayOfFips:
    """The calls to so many FIPs, whose IDs are texts of their own, as after each read."""
    dice = np.random.default_rng(day.day)
    zero = np.zeros(fips, np.int64)
    calls = dice.integers(10_000, 90_000, fips)
    keys = {**dict.fromkeys(KEYS, zero), "fip": np.arange(fips)}
    sums = {"c0": calls, "c1": calls - dice.integers(0, 400, fips)}
    ids = ["".join(("BANK-", str(1000 + fip))) for fip in range(fips)]
    return days_of_fips(day.date(), Totals(Cells(keys, sums, zero, None, None), ids))
