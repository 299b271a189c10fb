"""The calls of customers to each FIP, as far as they are the FIP's own affair.

Detection counts them window by window. What an AA, a path or the whole network has a cause for is
left out, and so is a planned maintenance. Public days and the last 24 hours are made of them.
"""

import enum
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol

import msgspec
import numpy as np
from msgspec import Struct

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
from mudra.metrics.health.rule_test import BAD_Z, FAILING, root
from mudra.metrics.payload.catalogue import CUSTOMER_CODES
from mudra.metrics.sums.cells import Array, Flags

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


class StoredOwnCalls(Protocol):
    """The FIPs' own calls, as the public status reads them."""

    async def own_hours(self, since: datetime) -> Mapping[datetime, bytes]:
        """Returns the hours from a time on."""
        ...

    async def changes(self) -> bytes | None:
        """Returns which rates have changed for good; None before any day was compared."""
        ...

    async def own_days(self, days: Sequence[datetime]) -> Mapping[datetime, str]:
        """Returns a mark of each of these days that has any: another one once it has changed."""
        ...

    async def own_day(self, day: datetime) -> bytes:
        """Returns what is stored of such a day."""
        ...


def no_own_calls() -> OwnCalls:
    """Returns the calls of a time in which no one was called."""
    return OwnCalls((), np.zeros((len(Field), ALL + 1, 0), np.int64))


def added_up(parts: Iterable[OwnCalls]) -> OwnCalls:
    """Returns the calls of several times that do not overlap."""
    listed = list(parts)
    fips = tuple(dict.fromkeys(fip_id for one in listed for fip_id in one.fips))
    if not fips:
        return no_own_calls()
    place = {fip_id: at for at, fip_id in enumerate(fips)}
    counts = np.zeros((len(Field), ALL + 1, len(fips)), np.int64)
    for one in listed:
        at = [place[fip_id] for fip_id in one.fips]
        wide = np.zeros_like(counts)
        wide[:, :, at] = one.counts
        worse = complaint(*wide[_WINDOW]) > complaint(*counts[_WINDOW])
        counts[_ADDED] += wide[_ADDED]
        counts[_WINDOW] = np.where(worse, wide[_WINDOW], counts[_WINDOW])
    return OwnCalls(fips, counts)


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


def sum_of_stored(parts: Iterable[bytes]) -> OwnCalls:
    """Returns the calls of several times that do not overlap, from stored bytes."""
    return added_up(map(own_from_bytes, parts))
