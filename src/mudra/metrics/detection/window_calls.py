"""The calls of one window as arrays: what is judged. Loaded in the jobs process only."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct

from mudra.metrics.attribution.evidence.lanes import CALL_APIS, TIMED_APIS, Floats
from mudra.metrics.payload.catalogue import (
    FIRST_4XX,
    FIRST_5XX,
    NotificationType,
    Position,
    Tag,
)
from mudra.metrics.sums.cells import (
    APIS,
    COUNTS,
    IS_REQUEST,
    POINTS,
    STATUSES,
    Array,
    Cells,
    type_place,
)

Places = np.typing.NDArray[np.int32]
_OUTCOMES: Final = type_place(Tag.NOTIFICATIONS, NotificationType.FI)


class Part(Struct, frozen=True):
    """Values of cells; both arrays have one column a cell."""

    at: Places
    """API, AA and FIP, as places in `CALL_APIS` or `TIMED_APIS` and in the names; statuses have
    no API."""
    values: Floats


class Parts(NamedTuple):
    """The arrays of one block, without counts of no call: a quarter of the bytes of its cells."""

    counts: Part
    """Calls, those that failed (5xx and no answer), and 4xx."""
    times: Part
    """Calls behind the percentiles, and p50, p95, p99, p100."""
    statuses: Part
    """The seven values of `status` of finot, spec 2.6."""


class WindowCalls(Struct, frozen=True):
    """The calls of one window."""

    ids: Sequence[str]
    """The AAs and FIPs by their places."""
    blocks: Iterable[Parts]
    """Those of all reports. They may come once: together they are larger than what is made of
    them."""


def window_calls(ids: Sequence[str], blocks: Sequence[Parts]) -> WindowCalls:
    """Returns what all AAs reported of one window; each block is let go when it was taken."""
    return WindowCalls(ids, _each([*blocks]))


def parts_of(cells: Cells) -> Parts:
    """Returns the arrays of a block of one window."""
    called = cells.chosen(_CALLED[cells.keys["type"]] >= 0)
    timed = cells.chosen(IS_REQUEST[cells.keys["type"]])
    ended = cells.chosen(cells.keys["type"] == _OUTCOMES)
    total, good = called.of(COUNTS[Position.TOTAL]), called.of(COUNTS[Position.OK_200])
    refused = sum(
        (called.of(name) for name in COUNTS[FIRST_4XX:FIRST_5XX]), np.zeros(len(called), np.int64)
    )
    # 5xx, no answer, and answers that spec 2.5 has no position for.
    counts = (total, total - good - refused, refused)
    points = timed.points or {}
    times = (timed.answered(), *(points.get(name, timed.longest) for name in POINTS))
    return Parts(
        Part(_at(called, _CALLED), _floats(counts)),
        Part(_at(timed, _TIMED), _floats(times)),
        Part(_at(ended), _floats([ended.of(name) for name in STATUSES])),
    )


def no_calls() -> WindowCalls:
    """Returns the arrays of a window that no AA reported."""
    return WindowCalls(("",), ())


def _each(blocks: list[Parts]) -> Iterator[Parts]:
    while blocks:
        yield blocks.pop()


def _at(cells: Cells, apis: Array | None = None) -> Places:
    rows = [cells.keys["aa"], cells.keys["fip"]]
    if apis is not None:
        rows.insert(0, apis[cells.keys["type"]])
    return np.stack(rows).astype(np.int32)


def _floats(columns: Sequence[Array]) -> Floats:
    return np.stack([column.astype(np.float64) for column in columns]).astype(np.float32)


def _places_of(apis: Sequence[str]) -> Array:
    """Returns the place of each type among these APIs; -1 for those that are none."""
    return np.array([apis.index(api) if api in apis else -1 for api in APIS], np.int64)


_CALLED: Final = _places_of(CALL_APIS)
_TIMED: Final = _places_of(TIMED_APIS)
