"""The calls of customers to each FIP, as far as they are the FIP's own affair.

Detection counts them window by window. What an AA, a path or the whole network has a cause for is
left out, and so is a planned maintenance. Public days and the last 24 hours are made of them.
"""

import enum
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, Protocol, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.incidents.incident import Ending, Incident
from mudra.metrics.incidents.subject import codes_of, fip_of
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.sums.cells import Array, Flags

FAILING: Final = 1 - GOOD_ABOVE_PERCENT / 100
"""The share of failed calls that the rule allows."""
BAD_Z: Final = 5.3
"""About one in ten million that just keep the rule would look as bad: a day has 2 million tests."""


def root(bad: NDArray[Any], events: NDArray[Any], rate: float = FAILING) -> NDArray[np.float32]:
    """Returns the signed root of the deviance: normal if `bad` of `events` has this rate."""
    number = np.maximum(events.astype(np.float64), 1.0)
    share = np.clip(bad.astype(np.float64) / number, 1e-12, 1 - 1e-12)
    deviance = number * (
        share * np.log(share / rate) + (1 - share) * np.log((1 - share) / (1 - rate))
    )
    found = np.sign(share - rate) * np.sqrt(2 * np.maximum(deviance, 0.0))
    return np.where(events > 0, found, 0.0).astype(np.float32)


ALL: Final = len(CUSTOMER_CODES)
"""The place of all types together, after those of each."""


class Field(enum.IntEnum):
    """The numbers of each FIP and type."""

    TOTAL = 0
    ELIGIBLE = 1
    """All but 4xx."""
    FAILED = 2
    """5xx and no answer."""
    TAKEN_OUT = 3
    """Calls that are not among these: a cause elsewhere or a maintenance explains them."""
    WINDOW_ELIGIBLE = 4
    """Of the one window that speaks worst of the FIP."""
    WINDOW_FAILED = 5
    REST_ELIGIBLE = 6
    """Without the AA that speaks worst of the FIP, where there is another."""
    REST_FAILED = 7


_ADDED: Final = [one for one in Field if one not in {Field.WINDOW_ELIGIBLE, Field.WINDOW_FAILED}]
_WINDOW: Final = [Field.WINDOW_ELIGIBLE, Field.WINDOW_FAILED]


class OwnCalls(Struct, frozen=True, eq=False):
    """Calls of some time: by field, type (the last is all of them) and FIP."""

    fips: tuple[str, ...]
    counts: Array

    def places(self) -> Mapping[str, int]:
        """Returns the places of the FIPs."""
        return {fip_id: place for place, fip_id in enumerate(self.fips)}


class OwnTotals(Struct, frozen=True, eq=False):
    """The calls of all types together of some time, by FIP: a sixteenth of the bytes."""

    fips: tuple[str, ...]
    total: Array
    eligible: Array
    failed: Array
    taken_out: Array
    is_broken: Flags

    def places(self) -> Mapping[str, int]:
        """Returns the places of the FIPs."""
        return {fip_id: place for place, fip_id in enumerate(self.fips)}


class OwnCallsStore(Protocol):
    """The FIPs' own calls, as detection keeps them."""

    async def own_hour(self, at: datetime) -> bytes | None:
        """Returns what is stored of the hour from a time on."""
        ...

    async def save_own_calls(
        self, hours: Mapping[datetime, bytes], *, since: datetime, drop_before: datetime
    ) -> None:
        """Replaces the hours from a time on, and the days that they are of."""
        ...

    async def own_hours(self, since: datetime) -> Mapping[datetime, bytes]:
        """Returns the hours from a time on."""
        ...

    async def save_changes(self, changes: bytes, at: datetime) -> None:
        """Stores which rates have changed for good, in place of what was known."""
        ...


def no_own_calls() -> OwnCalls:
    """Returns the calls of a time in which no one was called."""
    return OwnCalls((), np.zeros((len(Field), ALL + 1, 0), np.int64))


def own_totals(own: OwnCalls) -> OwnTotals:
    """Returns the calls of all types together."""
    fields = (Field.TOTAL, Field.ELIGIBLE, Field.FAILED, Field.TAKEN_OUT)
    # Copies: views would keep the whole.
    total, counted, failed, taken_out = (own.counts[field, ALL].copy() for field in fields)
    is_broken = broken(own.counts)[ALL].copy()
    return OwnTotals(own.fips, total, counted, failed, taken_out, is_broken)


def added_up(parts: Iterable[OwnCalls]) -> OwnCalls:
    """Returns the calls of several times that do not overlap, of which one at a time is in memory.

    An hour of a nation takes a megabyte.
    """
    place: dict[str, int] = {}
    counts = no_own_calls().counts
    for one in parts:
        at = [place.setdefault(fip_id, len(place)) for fip_id in one.fips]
        new = len(place) - counts.shape[-1]
        if new:
            counts = np.concatenate((counts, np.zeros((*counts.shape[:-1], new), np.int64)), -1)
        known = counts[:, :, at]
        worse = complaint(*one.counts[_WINDOW]) > complaint(*known[_WINDOW])
        known[_ADDED] += one.counts[_ADDED]
        known[_WINDOW] = np.where(worse, one.counts[_WINDOW], known[_WINDOW])
        counts[:, :, at] = known
    return OwnCalls((*place,), counts)


def complaint(eligible: Array, failed: Array) -> Array:
    """Returns how far failures are beyond the rule, in parts of a call that add up exactly."""
    return 100 * failed - (100 - GOOD_ABOVE_PERCENT) * eligible


def below(counts: Array) -> Flags:
    """Returns where fewer calls succeed than the rule demands, by type and FIP."""
    eligible, failed = counts[Field.ELIGIBLE], counts[Field.FAILED]
    found: Flags = (eligible > 0) & (complaint(eligible, failed) >= 0)
    return found


def broken(counts: Array) -> Flags:
    """Returns where the rule is broken by more than chance, one window and one AA, by type and FIP.

    It is the test by which the feed says BAD: without any one AA, and in two windows at least.
    """
    eligible, failed = (
        counts[of_all] - counts[of_one]
        for of_all, of_one in (
            (Field.ELIGIBLE, Field.WINDOW_ELIGIBLE),
            (Field.FAILED, Field.WINDOW_FAILED),
        )
    )
    of_windows = root(failed, eligible, FAILING)
    of_aas = root(counts[Field.REST_FAILED], counts[Field.REST_ELIGIBLE], FAILING)
    found: Flags = (of_windows >= BAD_Z) & (of_aas >= BAD_Z)
    return found


def own_to_bytes(own: OwnCalls) -> bytes:
    """Packs them: most numbers are small, or zero."""
    packed = zlib.compress(own.counts.astype("<i8").tobytes(), 1)
    return msgspec.msgpack.encode((own.fips, packed))


def own_from_bytes(data: bytes) -> OwnCalls:
    """Unpacks them."""
    fips, packed = msgspec.msgpack.decode(data, type=tuple[tuple[str, ...], bytes])
    counts = np.frombuffer(zlib.decompress(packed), "<i8").astype(np.int64)
    return OwnCalls(fips, counts.reshape(len(Field), ALL + 1, len(fips)))


def own_with_hours(
    stored: Mapping[datetime, bytes], since: datetime
) -> tuple[OwnCalls, Mapping[datetime, OwnTotals]]:
    """Returns the calls from a time on, and the calls of each hour, from stored bytes of hours."""
    hours: dict[datetime, OwnTotals] = {}
    names: dict[tuple[str, ...], tuple[str, ...]] = {}  # mostly those of the hour before

    def each() -> Iterator[OwnCalls]:
        for at in sorted(stored):
            one = own_from_bytes(stored[at])
            one = replace(one, fips=names.setdefault(one.fips, one.fips))
            hours[at] = own_totals(one)
            if at >= since:
                yield one

    return added_up(each()), hours


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
_MOST_OF_THEM: Final = 0.6
"""The part of the hours that are higher: the first window of some outages is a few hours' alone."""
_HOUR_CALLS: Final = 20
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
    known, higher = _higher(calls[since:], failed[since:], before, now)
    lasts = higher.sum(0) >= _MOST_OF_THEM * known.sum(0)
    return np.asarray(np.where(counts & large & lasts, z, 0.0))


def _higher(calls: Floats, failed: Floats, before: Floats, now: Floats) -> tuple[Flags, Flags]:
    """Returns the hours with calls enough, and which of these are nearer to the new rate."""
    known = calls >= _HOUR_CALLS
    return known, known & (failed > (before + now) / 2 * calls)


def _named(
    fips: Sequence[str], starts: Sequence[datetime], calls: Floats, failed: Floats,
    since: NDArray[np.int64],
) -> list[LevelChange]:  # fmt: skip
    found = []
    for code, fip in np.argwhere(since >= 0).tolist():
        if code != ALL and since[ALL, fip] >= 0:
            continue  # all of its calls say it
        first = _first_hour(calls[:, code, fip], failed[:, code, fip], int(since[code, fip]))
        parts = [
            float(failed[part, code, fip].sum() / calls[part, code, fip].sum())
            for part in (slice(None, first), slice(first, None))
        ]
        name = "" if code == ALL else CUSTOMER_CODES[code]
        found.append(LevelChange(fips[fip], name, starts[first], *parts))
    return sorted(found, key=lambda one: (one.fip_id, one.code))


def _first_hour(calls: Floats, failed: Floats, near: int) -> int:
    """Returns the hour from which on another rate is most likely, among those near one.

    The test itself looks at eight hours at least, of which the first may be of before.
    """
    most, few = _OUTAGE
    bad = np.minimum(failed, most * calls + few)

    def likelihood(part: slice) -> float:
        n, b = calls[part].sum(), bad[part].sum()
        rate = min((b + 0.5) / (n + 1.0), 1.0)
        return float(b * np.log(rate) + (n - b) * np.log1p(-rate))

    able = [
        hour
        for hour in range(max(near - _FEWEST_HOURS, 1), min(near + _MOST_HOURS, len(calls)))
        if calls[:hour].any() and calls[hour:].any()
    ]
    return max(able, key=lambda hour: likelihood(slice(hour)) + likelihood(slice(hour, None)))


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
