"""The size of a run: that of the headline statistics, or the smallest, which proves that it runs.

With `BENCH_SHORT=1` each benchmark takes its smallest sizes, and its goals decide no exit code.
`tests/bench` runs all of them so; statistics of such a run mean nothing.
"""

import os
import sys
from typing import Final, TypeVar

SHORT: Final = os.environ.get("BENCH_SHORT", "") == "1"
T = TypeVar("T")


def sized(full: T, short: T) -> T:
    """Return the size for this run."""
    return short if SHORT else full


def argument(place: int, full: float, short: float) -> float:
    """Return a number from the command line, else the size for this run."""
    return float(sys.argv[place]) if len(sys.argv) > place else sized(full, short)


def exit_code(*, met: bool) -> int:
    """Return 1 when a goal is missed in a run of full size."""
    return 0 if met or SHORT else 1
