"""What is stored besides the sums of an AA: small sums that a nation asks for most."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from mudra.metrics.health.weighing import certainly_good
from mudra.metrics.payload.catalogue import TIMING_CODES, Tag
from mudra.metrics.sums.adding import added
from mudra.metrics.sums.cells import Cells, type_place
from mudra.storage.metrics.blocks.grain import ALL, NOT_GOOD, OVER_FIPS, REQ

_TIMINGS: Final = sorted(type_place(Tag.REQUESTS, code) for code in TIMING_CODES)


def derived(tag: str, cells: Cells) -> Iterator[tuple[str, Cells]]:
    """Yields what is stored besides the sums of AAs at one time, by its tag.

    These are the sums over FIPs; of requests also all calls of each pair, and the calls that are
    not certainly good, both without times.
    """
    yield OVER_FIPS[tag], added([cells], ("aa", "type"))
    if tag == REQ:
        calls = cells.without_times().chosen(~np.isin(cells.keys["type"], _TIMINGS))
        yield ALL, added([calls], ("aa", "fip"), times=False)
        yield NOT_GOOD, calls.chosen(~certainly_good(calls))
