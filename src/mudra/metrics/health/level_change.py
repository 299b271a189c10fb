"""Rates of failed calls that have changed for good: a deployment, not an outage.

Once an hour, by the calls that are the FIPs' own (own_calls.py). A rate goes up and down within a
day and a night by itself: so a change is said once it has lasted both, and holds in either half.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from mudra.metrics.health.own_calls import ALL, Field, OwnCalls
from mudra.metrics.incidents.incident import Ending, Incident
from mudra.metrics.incidents.subject import codes_of, fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.sums.cells import Array, Flags

LOOKS_BACK: Final = timedelta(days=9)
_FEWEST_HOURS, _MOST_HOURS = 20, 7 * 24
"""How long a change has lasted: a day and a night but for some hours, until it is a week ago."""
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
_MOST_OF_THEM: Final = 0.6
"""The part of the hours that are higher: the first window of some outages is a few hours' alone."""
_HOUR_CALLS: Final = 20
_PARTS: Final = 4
"""In each of so many parts of a change it holds."""
_AS_LIKELY: Final = 2.0
"""Nats by which what is likely may be worse than something else, by chance."""
_HOUR: Final = timedelta(hours=1)
_FIPS_TOGETHER: Final = 250
_Hour: TypeAlias = tuple[Array, NDArray[np.float32]]
"""The places of its FIPs, and eligible and failed calls by type and FIP."""
_NEAR: Final = timedelta(hours=12)
"""A change is known to some hours; the incident that it began with has its first window."""
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
    hours: Iterable[tuple[datetime, OwnCalls]], incidents: Iterable[Incident]
) -> list[LevelChange]:
    """Returns the FIPs whose rate has changed, by the calls that are their own, hour by hour.

    The hours of an incident by which many calls fail are left out: that is an outage. Where an
    incident turned out to be such a change, it says since when. Of each hour only two fields stay
    in memory, and some FIPs at a time are looked at: nine days of a nation have 27 million numbers.
    """
    place: dict[str, int] = {}
    kept: dict[datetime, _Hour] = {}
    for at, own in hours:
        places = np.array([place.setdefault(fip, len(place)) for fip in own.fips], np.int64)
        kept[at] = places, own.counts[[Field.ELIGIBLE, Field.FAILED]].astype(np.float32)
    if not kept:
        return []
    incidents, starts, fips = list(incidents), sorted(kept), (*place,)
    found: list[LevelChange] = []
    for first in range(0, len(fips), _FIPS_TOGETHER):
        some = fips[first : first + _FIPS_TOGETHER]
        found += _of_some(some, first, starts, [kept[at] for at in starts], incidents)
    changed = [one for one in incidents if one.ending is Ending.CHANGED and one.failing]
    return _with_known(found, changed, starts[-1])


def _of_some(
    fips: Sequence[str],
    first: int,
    starts: Sequence[datetime],
    hours: Sequence[_Hour],
    incidents: Iterable[Incident],
) -> list[LevelChange]:
    """Returns what has changed of FIPs that follow each other, from a place on."""
    calls, failed = counts = np.zeros((2, len(starts), ALL + 1, len(fips)))
    for at, (places, of_hour) in enumerate(hours):
        mine = np.flatnonzero((places >= first) & (places < first + len(fips)))
        counts[:, at][..., places[mine] - first] = of_hour[..., mine]
    place = {fip: at for at, fip in enumerate(fips)}
    for one in incidents:
        fip = place.get(fip_of(one.subject) or "")
        many = one.eligible - one.succeeded > _OUTAGE[0] * one.eligible
        if one.failing and many and fip is not None:
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
    before = np.minimum((b0 + 1.0) / np.maximum(n0, 1.0), 1.0)
    n1, b1 = calls[since:].sum(0), np.minimum(failed[since:], most * calls[since:] + few).sum(0)
    now = b1 / np.maximum(n1, 1.0)
    chance = before * (1.0 - before) * (1.0 / np.maximum(n1, 1.0) + 1.0 / np.maximum(n0, 1.0))
    z = (now - before) / np.sqrt(chance + (_WANDERS * before) ** 2)
    counts = (n0 >= _BEFORE_CALLS) & (n1 >= _CALLS)
    large = (now >= _LEAST) & (now >= _FACTOR * before + _MORE)
    lasts = _lasts(calls[since:], failed[since:], before, now)
    return np.asarray(np.where(counts & large & lasts, z, 0.0))


def _lasts(calls: Floats, failed: Floats, before: Floats, now: Floats) -> Flags:
    """Returns whether most hours are nearer to the new rate, and no quarter speaks against it.

    A rate that is high from morning to evening does not last the night.
    """
    most, few = _OUTAGE
    known = calls >= _HOUR_CALLS
    higher = known & (failed > (before + now) / 2 * calls)
    found = higher.sum(0) >= _MOST_OF_THEM * known.sum(0)
    old, new = (np.clip(rate, 1e-9, 1 - 1e-9) for rate in (before, now))
    odds_bad, odds_good = np.log(new / old), np.log((1 - new) / (1 - old))
    for part in np.array_split(np.arange(len(calls)), _PARTS):
        n, b = calls[part].sum(0), np.minimum(failed[part], most * calls[part] + few).sum(0)
        found &= b * odds_bad + (n - b) * odds_good > -_AS_LIKELY
    return np.asarray(found)


def _named(
    fips: Sequence[str], starts: Sequence[datetime], calls: Floats, failed: Floats,
    since: NDArray[np.int64],
) -> list[LevelChange]:  # fmt: skip
    found = []
    for code, fip in np.argwhere(since >= 0).tolist():
        if code != ALL and since[ALL, fip] >= 0:
            continue  # all of its calls say it
        first = _first_hour(calls[:, code, fip], failed[:, code, fip], int(since[code, fip]))
        if first is None:
            continue
        parts = [
            float(failed[part, code, fip].sum() / calls[part, code, fip].sum())
            for part in (slice(None, first), slice(first, None))
        ]
        name = "" if code == ALL else CUSTOMER_CODES[code]
        found.append(LevelChange(fips[fip], name, starts[first], *parts))
    return sorted(found, key=lambda one: (one.fip_id, one.code))


def _first_hour(calls: Floats, failed: Floats, near: int) -> int | None:
    """Returns the hour from which on another rate is most likely, among those near one.

    None unless it may have lasted a day and a night: the first hours of the test may be of before,
    and quiet ones say little of either.
    """
    most, few = _OUTAGE
    bad = np.minimum(failed, most * calls + few)

    def likelihood(part: slice) -> float:
        n, b = calls[part].sum(), bad[part].sum()
        rate = min((b + 0.5) / (n + 1.0), 1.0)
        return float(b * np.log(rate) + (n - b) * np.log1p(-rate))

    fits = {
        hour: likelihood(slice(hour)) + likelihood(slice(hour, None))
        for hour in range(max(near - _FEWEST_HOURS, 1), min(near + _MOST_HOURS, len(calls)))
        if calls[:hour].any() and calls[hour:].any()
    }
    first = max(fits, key=lambda hour: fits[hour])
    old = [fit for hour, fit in fits.items() if len(calls) - hour >= _FEWEST_HOURS]
    return first if old and max(old) >= fits[first] - _AS_LIKELY else None


def _with_known(
    found: Sequence[LevelChange], incidents: Iterable[Incident], now: datetime
) -> list[LevelChange]:
    """Returns changes that began with an incident since then, and those that it alone shows."""
    changes = list(found)
    for one in incidents:
        fip, codes = fip_of(one.subject) or "", sorted(codes_of(one.subject)) or [""]
        if one.began < now - _MOST_HOURS * _HOUR:
            continue
        known = [change for change in changes if change.fip_id == fip]
        for change in known:
            if abs(change.since - one.began) <= _NEAR:
                changes[changes.index(change)] = replace(change, since=one.began)
        before = one.cause.expected / max(one.cause.calls, 1)
        share = 1.0 - one.succeeded / one.eligible
        if not known:
            changes += [LevelChange(fip, code, one.began, before, share) for code in codes]
    return sorted(changes, key=lambda one: (one.fip_id, one.code))


def changes_to_bytes(changes: Sequence[LevelChange]) -> bytes:
    """Packs changes."""
    return msgspec.msgpack.encode(changes)


def changes_from_bytes(data: bytes) -> list[LevelChange]:
    """Unpacks changes."""
    return msgspec.msgpack.decode(data, type=list[LevelChange])
