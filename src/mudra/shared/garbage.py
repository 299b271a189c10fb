"""The interval at which garbage is collected: objects that only other garbage refers to.

To collect all of it every minute would hold a worker for 40 ms; Python's thresholds take 2 % of a
processor.
"""

import gc
from typing import Final

_THRESHOLDS: Final = (10_000, 10, 10)
"""New objects, then rounds among the young, then rounds among those that got older."""


def set_aside_what_is_loaded() -> None:
    """Never look for garbage in what is there now, and rarely in what comes.

    To be called when a process is about to begin its work: Python alone looks after each 700 new
    objects, of which a page makes 100,000.
    """
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
