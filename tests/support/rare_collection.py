"""Garbage collection of processes that load much and throw away little."""

import gc
from typing import Final

RARELY: Final = (20_000, 20, 50)
"""Thresholds: with those of Python collections take 2 % of a run."""


def collect_rarely() -> None:
    """Look for garbage among what comes from now on alone, and less often."""
    gc.freeze()
    gc.set_threshold(*RARELY)
