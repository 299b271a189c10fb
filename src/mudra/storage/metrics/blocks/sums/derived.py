"""The blocks made of the sums of all AAs: small sums that a nation asks for most."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from mudra.metrics.health.judging import certainly_good
from mudra.metrics.payload.catalogue import CALL_CODES, CUSTOMER_CODES, Tag
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.buckets import FANS, fan_of
from mudra.metrics.sums.cells import Cells, type_place
from mudra.storage.metrics.blocks.grain import (
    ALL,
    DERIVED,
    NOT_GOOD,
    OVER_FIPS,
    REQ,
    SEEN,
    Grain,
)
from mudra.storage.metrics.blocks.sums.daily import OF_SERIES
from mudra.storage.metrics.blocks.writing import Series

_CALLS: Final = sorted(type_place(Tag.REQUESTS, code) for code in CALL_CODES)
_OF_CUSTOMERS: Final = sorted(type_place(Tag.REQUESTS, code) for code in CUSTOMER_CODES)


def derived(tag: str, cells: Cells) -> Iterator[tuple[str, Cells]]:
    """Yields what is stored besides the sums of AAs at one time, by its tag.

    These are the sums over FIPs; of requests also all calls for customers of each pair, and the
    calls that are not certainly good, both without times.
    """
    yield OVER_FIPS[tag], added([cells], ("aa", "type"))
    if tag == REQ:
        calls = cells.without_times().chosen(np.isin(cells.keys["type"], _CALLS))
        of_customers = calls.chosen(np.isin(calls.keys["type"], _OF_CUSTOMERS))
        yield ALL, added([of_customers], ("aa", "fip"), times=False)
        yield NOT_GOOD, calls.chosen(~certainly_good(calls))


def derived_tags(series: Series) -> Sequence[str]:
    """Returns the tags of what is stored besides the sums of an AA, or over all AAs."""
    if series.aa_id == ALL_AAS:
        return (SEEN,) if series == OF_SERIES else ()
    return DERIVED[series.tag]


def has_times(tag: str) -> bool:
    """Returns whether sums of a tag have the times of calls."""
    return tag not in {ALL, NOT_GOOD}


def fan_for(series: Series, cells: Cells, shares: int = 1) -> int:
    """Returns the number of buckets of sums: no one asks for what is derived by FIP.

    The cells are those of one of so many shares of all FIPs, a power of two. Days of an AA have
    twice as many buckets: a month of one FIP is read from those of each AA.
    """
    if series.tag not in DERIVED:
        return 1
    of_days = series.grain is Grain.DAY and series.aa_id != ALL_AAS
    return min(FANS[-1], shares * fan_of(len(cells) * (2 if of_days else 1)))
