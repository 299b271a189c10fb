"""The calls of one window as arrays: what is judged, and kept packed to be judged again.

Reading a window's raw rows costs many times what judging it does, and a report that is
days late lets all windows after it be judged again. Loaded in the jobs process only: it
imports numpy.
"""

import zlib
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Final

import msgspec
import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.evidence import PERCENTILE_POINTS
from mudra.metrics.attribution.evidence.lanes import (
    CALL_APIS,
    FIP_STATUSES,
    TIMED_APIS,
    Api,
    Floats,
)
from mudra.metrics.incidents.window_reports import CallSums
from mudra.metrics.payload.catalogue import NotificationType, Tag

Places = np.typing.NDArray[np.int32]
_NOTIFICATIONS: Final = Tag.NOTIFICATIONS.value[:3]
_CONSENT_RECEIVED: Final = (_NOTIFICATIONS, NotificationType.CONSENT.value)
_COUNTS: Final = 3


class Part(Struct, frozen=True):
    """Values of cells; both arrays have one column a cell."""

    at: Places
    """API, AA and FIP, as places in `CALL_APIS` or `TIMED_APIS` and in the names; statuses have
    no API."""
    values: Floats


class WindowCalls(Struct, frozen=True):
    """All counts of one window, without those of no call."""

    aas: tuple[str, ...]
    fips: tuple[str, ...]
    counts: Part
    """Calls, those that failed (5xx and no answer), and 4xx."""
    times: Part
    """Calls behind the percentiles, and p50, p95, p99, p100."""
    statuses: Part
    """The seven values of `status` of finot, spec 2.6."""


def window_calls(rows: Sequence[CallSums]) -> WindowCalls:
    """Returns the arrays of one window's rows."""
    aas = tuple(sorted({one.aa_id for one in rows}))
    fips = tuple(sorted({one.fip_id for one in rows}))
    aa_at, fip_at = ({name: at for at, name in enumerate(names)} for names in (aas, fips))

    def part(chosen: Sequence[CallSums], apis: Sequence[Api], values: Floats) -> Part:
        places = {api: place for place, api in enumerate(apis)}
        at = [[places[_api(one)] for one in chosen]] if apis else []
        at += [[aa_at[one.aa_id] for one in chosen], [fip_at[one.fip_id] for one in chosen]]
        return Part(np.array(at, np.int32), values)

    called = [one for one in rows if _api(one) in CALL_APIS]
    timed = [one for one in rows if one.percentiles is not None]
    ended = [one for one in rows if one.statuses is not None]
    total, good, refused = _table(called, lambda one: one[5:8], _COUNTS)
    # 5xx, no answer, and answers that spec 2.5 has no position for.
    counts = np.array((total, total - good - refused, refused), np.float32)
    times = _table(timed, lambda one: (one.answered, *(one.percentiles or ())), _TIMES)
    statuses = _table(ended, lambda one: one.statuses or (), FIP_STATUSES)
    return WindowCalls(
        aas,
        fips,
        part(called, CALL_APIS, counts),
        part(timed, TIMED_APIS, times.astype(np.float32)),
        part(ended, (), statuses.astype(np.float32)),
    )


def joined(parts: Sequence[WindowCalls]) -> WindowCalls:
    """Returns the calls of a window that was read in parts; each row is in one of them."""
    if len(parts) <= 1:
        return parts[0] if parts else window_calls(())
    aas = tuple(sorted({name for part in parts for name in part.aas}))
    fips = tuple(sorted({name for part in parts for name in part.fips}))

    def join(of: Callable[[WindowCalls], Part]) -> Part:
        ats = []
        for part in parts:
            at = of(part).at.copy()
            at[-2] = _places(part.aas, aas)[at[-2]]
            at[-1] = _places(part.fips, fips)[at[-1]]
            ats.append(at)
        values = [of(part).values for part in parts]
        return Part(np.concatenate(ats, axis=1), np.concatenate(values, axis=1))

    return WindowCalls(
        aas,
        fips,
        *(join(of) for of in (lambda p: p.counts, lambda p: p.times, lambda p: p.statuses)),
    )


def calls_to_bytes(calls: WindowCalls) -> bytes:
    """Packs the arrays, compressed."""
    parts = (calls.counts, calls.times, calls.statuses)
    arrays = [part.at.astype("<i4") for part in parts] + [
        part.values.astype("<f4") for part in parts
    ]
    flat = b"".join(array.tobytes() for array in arrays)
    head = (calls.aas, calls.fips, [part.at.shape[1] for part in parts])
    return msgspec.msgpack.encode((head, zlib.compress(flat, 1)))


def calls_from_bytes(data: bytes) -> WindowCalls:
    """Unpacks the arrays."""
    head, packed = msgspec.msgpack.decode(data, type=tuple[_Head, bytes])
    flat, start, arrays = zlib.decompress(packed), 0, []
    rows = ((3, 3, 2), (_COUNTS, _TIMES, FIP_STATUSES))
    for dtype, heights in zip(("<i4", "<f4"), rows, strict=True):
        for height, width in zip(heights, head[2], strict=True):
            cells = np.frombuffer(flat, dtype, height * width, start)
            arrays.append(cells.reshape(height, width))
            start += cells.nbytes
    parts = (Part(at, values) for at, values in zip(arrays[:3], arrays[3:], strict=True))
    return WindowCalls(head[0], head[1], *parts)


_TIMES: Final = 1 + PERCENTILE_POINTS
_Head = tuple[tuple[str, ...], tuple[str, ...], tuple[int, int, int]]


def _table(
    rows: Sequence[CallSums], of: Callable[[CallSums], Sequence[int]], height: int
) -> np.typing.NDArray[np.float64]:
    flat = np.fromiter(chain.from_iterable(of(one) for one in rows), np.float64)
    return flat.reshape(len(rows), height).T


def _places(names: Sequence[str], among: Sequence[str]) -> Places:
    at = {name: place for place, name in enumerate(among)}
    return np.array([at[name] for name in names], np.int32)


def _api(one: CallSums) -> Api:
    key = (one.tag, one.type)
    return Api.CONSENT_RECEIVED if key == _CONSENT_RECEIVED else Api(one.type)
