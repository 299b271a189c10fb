"""The calls of customers to each FIP, as far as they are the FIP's own affair.

Detection counts them window by window. What an AA, a path or the whole network has a cause for is
left out, and so is a planned maintenance. Public days and the last 24 hours are made of them.
"""

import enum
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, Protocol

import msgspec
import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from mudra.metrics.health.health import GOOD_ABOVE_PERCENT
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
    of_apis: Mapping[tuple[str, str], tuple[int, int, int]] = {}
    """Total, eligible and failed calls of the few incidents that were asked for: FIP and codes."""

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


def own_totals(own: OwnCalls, wanted: Collection[tuple[str, str]] = ()) -> OwnTotals:
    """Returns the calls of all types together, and calls of the FIPs and APIs that are wanted."""
    fields = (Field.TOTAL, Field.ELIGIBLE, Field.FAILED, Field.TAKEN_OUT)
    # Copies: views would keep the whole.
    total, counted, failed, taken_out = (own.counts[field, ALL].copy() for field in fields)
    is_broken = broken(own.counts)[ALL].copy()
    of_apis = _of_apis(own, wanted)
    return OwnTotals(own.fips, total, counted, failed, taken_out, is_broken, of_apis)


def _of_apis(
    own: OwnCalls, wanted: Collection[tuple[str, str]]
) -> Mapping[tuple[str, str], tuple[int, int, int]]:
    found: dict[tuple[str, str], tuple[int, int, int]] = {}
    places = own.places() if wanted else {}
    fields = [Field.TOTAL, Field.ELIGIBLE, Field.FAILED]
    for fip_id, codes in wanted:
        at = [CUSTOMER_CODES.index(one) for one in codes.split(",") if one in CUSTOMER_CODES]
        if fip_id in places and at:
            total, counted, failed = own.counts[fields][:, at, places[fip_id]].sum(axis=1).tolist()
            found[fip_id, codes] = total, counted, failed
    return found


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
    stored: Mapping[datetime, bytes],
    since: datetime,
    wanted: Collection[tuple[str, str]] = (),
) -> tuple[OwnCalls, Mapping[datetime, OwnTotals]]:
    """Returns the calls from a time on, and the calls of each hour, from stored bytes of hours.

    Of `wanted`, FIPs with codes of APIs separated by commas, each hour has the calls too.
    """
    hours: dict[datetime, OwnTotals] = {}
    names: dict[tuple[str, ...], tuple[str, ...]] = {}  # mostly those of the hour before

    def each() -> Iterator[OwnCalls]:
        for at in sorted(stored):
            one = own_from_bytes(stored[at])
            one = replace(one, fips=names.setdefault(one.fips, one.fips))
            hours[at] = own_totals(one, wanted)
            if at >= since:
                yield one

    return added_up(each()), hours
