"""The recount of sums: reports of some FIPs are added up again by plain loops, and compared.

Each night other FIPs are chosen, one part of the work for each FIP and day. So are the sums of some
AAs over all their FIPs, from those of each FIP.
"""

import zlib
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.rollup.stale import Stale

FIPS: Final = 24
"""FIPs of which each day is counted again. At a nation's size these take some minutes a night."""
AAS: Final = 2
"""AAs of which the sums over all FIPs of each day are counted again; of a nation's a day takes a
second."""


class RecountPart(Struct, frozen=True):
    """The sums about one FIP on one day (UTC), or without one an AA's sums over all FIPs."""

    day: datetime
    fip_id: str
    aa_id: str = ""
    """Empty for each AA, and all together."""


class Compared(Struct, frozen=True):
    """The number of cells of some sums that were compared, and how many differ."""

    sums: Stale
    cells: int
    different: int


def sample(ids: Collection[str], day: datetime, number: int) -> Sequence[str]:
    """Returns what to count again on a day: others on each one, all where there are few."""
    seed = day.date().isoformat()
    return sorted(ids, key=lambda one: zlib.crc32(f"{seed} {one}".encode()))[:number]
