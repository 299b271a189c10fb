"""The calls of sums of metrics, as evidence has them."""

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise, repeat
from typing import Final, NamedTuple

import numpy as np

from mudra.levels.evidence import Calls, TimedCalls
from mudra.metrics.payload.catalogue import NotificationType, RequestType
from mudra.metrics.sums.cells import COUNTS, STATUSES, Cells
from mudra.metrics.sums.totals import Totals

_APIS: Final = (*(one.api for one in RequestType), *(one.api for one in NotificationType))
"""By their place in the columns."""
_FINOT: Final = NotificationType.FI.value


class PairCalls(NamedTuple):
    """The calls between an AA and a FIP; either is empty for all."""

    aa_id: str
    fip_id: str
    api: str
    counts: tuple[int, ...]
    statuses: tuple[int, ...]
    longest: int
    times: tuple[tuple[int, int], ...]

    def seen_from(self, peer_id: str) -> Calls:
        """Returns them with one other."""
        return Calls(peer_id, self.api, *self[3:])

    def within(self, peer_id: str, at: datetime, until: datetime) -> TimedCalls:
        """Returns them with one other, of a time."""
        return TimedCalls(peer_id, self.api, *self[3:], at=at, until=until)


def pair_calls(totals: Totals) -> Iterator[PairCalls]:
    """Yields the calls of each row, in order of FIP, AA and API."""
    cells = totals.sums
    types = cells.keys["type"]
    order = np.lexsort((types, cells.keys["aa"], cells.keys["fip"]))
    cells = cells.chosen(order)
    ids = totals.ids
    aas, fips = (map(ids.__getitem__, cells.keys[one].tolist()) for one in ("aa", "fip"))
    apis = [_APIS[place] for place in cells.keys["type"].tolist()]
    columns = zip(*(cells.of(name).tolist() for name in COUNTS), strict=True)
    found = zip(*(cells.of(name).tolist() for name in STATUSES), strict=True)
    statuses = (one if api == _FINOT else () for api, one in zip(apis, found, strict=True))
    longest = cells.longest.tolist()
    yield from map(PairCalls, aas, fips, apis, columns, statuses, longest, _times(cells))


def _times(cells: Cells) -> Iterator[tuple[tuple[int, int], ...]]:
    if cells.rises is None:
        yield from repeat((), len(cells))
        return
    width, place, calls = cells.rises
    pairs = [*zip(place.tolist(), calls.tolist(), strict=True)]
    for start, stop in pairwise([0, *np.cumsum(width).tolist()]):
        yield tuple(pairs[start:stop])
