"""Rates that changed for good: more calls of a FIP fail than before, hour after hour.

After a deployment a FIP may lose six calls of a hundred where it lost two. No window shows an
outage, and none is reported: a day next to the days before says "changed since".
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from mudra.metrics.health.own_calls import ALL, Field, OwnCalls
from mudra.metrics.incidents.incident import Incident
from mudra.metrics.incidents.subject import fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES

LOOKS_BACK: Final = timedelta(days=9)
_FEWEST_HOURS, _MOST_HOURS = 8, 7 * 24
"""How long a change has lasted."""
_BEFORE_HOURS: Final = 36
_BEFORE_CALLS: Final = 1_000
_CALLS: Final = 500
_LEAST: Final = 0.04
"""A smaller share of failures matters to no one: the network's rule allows 5 %."""
_FACTOR, _MORE = 1.5, 0.015
_WANDERS: Final = 0.3
"""How far the rate of half a day wanders by itself, as a part of it."""
_Z: Final = 5.0
_OUTAGE: Final = 0.15, 3.0
"""An hour counts for no more than such a share of failures and a few: beyond it is an outage."""
_HOUR: Final = timedelta(hours=1)
Floats = NDArray[np.float64]


class LevelChange(Struct, frozen=True):
    """A FIP of which more calls fail since a time; `code` is empty for all of its calls."""

    fip_id: str
    code: str
    since: datetime
    before: float
    now: float
    """Shares of failed calls, from 0 to 1."""


def level_changes(
    hours: Mapping[datetime, OwnCalls], incidents: Iterable[Incident]
) -> list[LevelChange]:
    """Returns the FIPs whose rate has changed, by the calls that are their own, hour by hour.

    The hours of an incident by which calls fail are left out: that is an outage.
    """
    if not hours:
        return []
    starts = sorted(hours)
    fips = tuple(dict.fromkeys(fip for at in starts for fip in hours[at].fips))
    place = {fip: at for at, fip in enumerate(fips)}
    calls, failed = (np.zeros((len(starts), ALL + 1, len(fips))) for _ in range(2))
    for at, start in enumerate(starts):
        own = hours[start]
        where = [place[fip] for fip in own.fips]
        calls[at][:, where] = own.counts[Field.ELIGIBLE]
        failed[at][:, where] = own.counts[Field.FAILED]
    for one in incidents:
        fip = place.get(fip_of(one.subject) or "")
        if one.failing and fip is not None:
            during = [
                at
                for at, start in enumerate(starts)
                if start + _HOUR > one.began and (one.ended is None or start < one.ended)
            ]
            calls[during, :, fip] = failed[during, :, fip] = 0.0
    best = np.full(calls.shape[1:], _Z)
    since = np.full(calls.shape[1:], -1)
    for lasted in range(_FEWEST_HOURS, min(_MOST_HOURS, len(starts) - _BEFORE_HOURS) + 1):
        z = _beyond(calls, failed, len(starts) - lasted)
        better = z > best
        best, since = np.where(better, z, best), np.where(better, len(starts) - lasted, since)
    return _named(fips, starts, calls, failed, since)


def _beyond(calls: Floats, failed: Floats, since: int) -> Floats:
    """Returns by how many standard deviations the rate is higher from an hour on; else 0."""
    most, few = _OUTAGE
    n0, b0 = calls[:since].sum(0), failed[:since].sum(0)
    before = (b0 + 1.0) / np.maximum(n0, 1.0)
    n1, b1 = calls[since:].sum(0), np.minimum(failed[since:], most * calls[since:] + few).sum(0)
    now = b1 / np.maximum(n1, 1.0)
    chance = before * (1.0 - before) * (1.0 / np.maximum(n1, 1.0) + 1.0 / np.maximum(n0, 1.0))
    z = (now - before) / np.sqrt(chance + (_WANDERS * before) ** 2)
    counts = (n0 >= _BEFORE_CALLS) & (n1 >= _CALLS)
    large = (now >= _LEAST) & (now >= _FACTOR * before + _MORE)
    return np.asarray(np.where(counts & large, z, 0.0))


def _named(
    fips: Sequence[str], starts: Sequence[datetime], calls: Floats, failed: Floats,
    since: NDArray[np.int64],
) -> list[LevelChange]:  # fmt: skip
    found = []
    for code, fip in np.argwhere(since >= 0).tolist():
        if code != ALL and since[ALL, fip] >= 0:
            continue  # all of its calls say it
        first = int(since[code, fip])
        parts = [
            float(failed[part, code, fip].sum() / calls[part, code, fip].sum())
            for part in (slice(None, first), slice(first, None))
        ]
        name = "" if code == ALL else CUSTOMER_CODES[code]
        found.append(LevelChange(fips[fip], name, starts[first], *parts))
    return sorted(found, key=lambda one: (one.fip_id, one.code))


def changes_to_bytes(changes: Sequence[LevelChange]) -> bytes:
    """Packs changes."""
    return msgspec.msgpack.encode(changes)


def changes_from_bytes(data: bytes) -> list[LevelChange]:
    """Unpacks changes."""
    return msgspec.msgpack.decode(data, type=list[LevelChange])
