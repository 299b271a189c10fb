"""The recount of sums: reports of some FIPs are added up again by plain loops, and compared.

Each night other FIPs are chosen, one part of the work for each FIP and day.
"""

import zlib
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.rollup.stale import Stale

SAMPLE: Final = 24
"""FIPs of which each day is counted again. At a nation's size these take some minutes a night."""


class RecountPart(Struct, frozen=True):
    """The sums about one FIP on one day (UTC)."""

    day: datetime
    fip_id: str


class Compared(Struct, frozen=True):
    """How many cells of some sums were compared, and how many differ."""

    sums: Stale
    cells: int
    different: int


def sample(fip_ids: Sequence[str], day: datetime) -> Sequence[str]:
    """Returns the FIPs to count again on a day: others on each one, all where there are few."""
    seed = day.date().isoformat()
    ordered = sorted(fip_ids, key=lambda fip_id: zlib.crc32(f"{seed} {fip_id}".encode()))
    return ordered[:SAMPLE]
