"""The recount of sums, in parts of one transaction each.

A day of a nation has 40 million raw rows. One statement over all of them takes longer than it may,
holds gigabytes of temporary files, and begins again from nothing.
"""

from collections.abc import Sequence
from datetime import datetime

from msgspec import Struct

from mudra.metrics.rollup.stale import ALL_AAS, DAY, HOUR, Stale


class RecountPart(Struct, frozen=True):
    """Sums that one transaction compares.

    Of an hour those of each AA and over all AAs, with the raw rows. Of a day those of one AA with
    its raw rows, or those over all AAs with the ones of each AA.
    """

    grain: str
    at: datetime
    aa_id: str = ALL_AAS


class Compared(Struct, frozen=True):
    """How many rows of some sums were compared, and how many differ."""

    sums: Stale
    rows: int
    different: int


class Recount(Struct, frozen=True):
    """The number of rows that a part compared, and that differ."""

    rows: int
    different: int


def parts_of(day: datetime, aa_ids: Sequence[str]) -> Sequence[RecountPart]:
    """Returns the parts of a day of these AAs; sums over all AAs after those they are made of."""
    return [
        *(RecountPart("hour", day + place * HOUR) for place in range(DAY // HOUR)),
        *(RecountPart("day", day, aa_id) for aa_id in aa_ids),
        RecountPart("day", day),
    ]
