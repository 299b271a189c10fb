"""Cells: the calls of one AA to one FIP by one type in a time, as columns that add up exactly.

A report of ten minutes, the sums of an hour or a day, of one AA or of all together: each is a
`Cells`. Every question is answered in one way: read the blocks of a range, then `added(parts, by)`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mudra.metrics.payload.catalogue import COUNTS as NUMBER_OF_COUNTS
from mudra.metrics.payload.catalogue import (
    PERCENTILE_NAMES,
    NotificationType,
    RequestType,
    Tag,
    window_at,
    window_number,
)
from mudra.metrics.payload.catalogue import STATUSES as NUMBER_OF_STATUSES

Array: TypeAlias = NDArray[np.int64]
"""Whole numbers. A column whose sums may exceed 64 bits has Python's own numbers (`object`)."""
Flags: TypeAlias = NDArray[np.bool_]

_TYPES: Final = sorted((*RequestType, *NotificationType), key=lambda one: one.place)
TYPES: Final = ("", *(one.value for one in _TYPES))
"""The type codes by their place, which blocks store; the empty one is all types together.

`cnot` is a request and a notification.
"""
APIS: Final = ("", *(one.api for one in _TYPES))
"""The types by their place, as incidents and alarms name them."""
IS_REQUEST: Final[Flags] = np.array([False, *(isinstance(one, RequestType) for one in _TYPES)])
"""Whether the type at a place is of request metrics."""
KEYS: Final = ("at", "aa", "type", "fip")
COUNTS: Final = tuple(f"c{place}" for place in range(NUMBER_OF_COUNTS))
ANSWERED: Final = COUNTS[1:]
STATUSES: Final = tuple(f"s{place}" for place in range(NUMBER_OF_STATUSES))
POINTS: Final = PERCENTILE_NAMES
LATE: Final = ("late_lower", "late_upper", "late_estimate")
"""Calls that took `LIMIT_MS` or longer: certainly, possibly, by estimate."""
SUMS: Final = ("blocks", *COUNTS, *STATUSES, "size", *LATE)
LARGEST: Final = 2**63 - 1


class Rises(NamedTuple):
    """Estimated response times: some `calls` of a row are in the cell of time `place`.

    Those of a row follow each other by place, no two in the same one, and are followed by those of
    the next row: `width` is how many each row has.
    """

    width: Array
    place: Array
    calls: Array


@dataclass(frozen=True, slots=True)
class Cells:
    """Columns with one entry for each cell: single blocks of a report, or sums of blocks.

    `keys` are `at` (ten-minute windows since 1970), `aa` and `fip` (places in a `Names`) and `type`
    (place in `TYPES`). A key that was added over is 0.
    """

    keys: Mapping[str, Array]
    sums: Mapping[str, Array]
    """The columns of `SUMS`, without those that are 0 everywhere."""
    longest: Array
    """The longest response time in milliseconds; 0 without an answer."""
    points: Mapping[str, Array] | None
    """p50, p95, p99 and p100 in milliseconds of single blocks, as reported; None for sums."""
    rises: Rises | None
    """The response times of sums; None for single blocks, and where they were not asked for."""

    def __len__(self) -> int:
        return len(self.longest)

    def of(self, name: str) -> Array:
        """Returns a column of `SUMS`."""
        found = self.sums.get(name)
        return np.zeros(len(self), np.int64) if found is None else found

    def answered(self) -> Array:
        """Returns the number of calls with a response of any status; each has a response time."""
        return across([self.of(name) for name in ANSWERED if name in self.sums], len(self))

    def chosen(self, which: Array | Flags) -> "Cells":
        """Returns some rows: by a mask, or by their places in the order wanted."""
        places = np.flatnonzero(which) if which.dtype == np.bool_ else np.asarray(which, np.int64)
        if len(places) == len(self) and bool((places == np.arange(len(self))).all()):
            return self
        return Cells(
            _taken(self.keys, places),
            _taken(self.sums, places),
            self.longest[places],
            None if self.points is None else _taken(self.points, places),
            None if self.rises is None else _chosen_rises(self.rises, places),
        )

    def part(self, start: int, stop: int) -> "Cells":
        """Returns adjacent rows, as views of these columns."""
        span = slice(start, stop)
        rises = None
        if self.rises is not None:
            width, place, calls = self.rises
            first, mine = int(width[:start].sum()), width[span]
            of = slice(first, first + int(mine.sum()))
            rises = Rises(mine, place[of], calls[of])
        return Cells(
            {name: column[span] for name, column in self.keys.items()},
            {name: column[span] for name, column in self.sums.items()},
            self.longest[span],
            None
            if self.points is None
            else {name: column[span] for name, column in self.points.items()},
            rises,
        )

    def moved(self, start_of: Callable[[datetime], datetime]) -> "Cells":
        """Returns the same sums, each at the start of a longer time that contains its own."""
        ats, which = np.unique(self.keys["at"], return_inverse=True)
        starts = [window_number(start_of(window_at(at))) for at in ats.tolist()]
        keys = {**self.keys, "at": np.array(starts, np.int64)[which]}
        return replace(self, keys=keys)

    def at(self, time: int) -> "Cells":
        """Returns the same cells, all at one time."""
        return replace(self, keys={**self.keys, "at": np.full(len(self), time, np.int64)})

    def without_times(self) -> "Cells":
        """Returns the same sums with no response times but the longest."""
        return Cells(self.keys, self.sums, self.longest, self.points, None)


class Names:
    """Numbers for the IDs of entities. Place 0 is the empty ID: all together.

    It never forgets an ID, so each question and each report has its own.
    """

    def __init__(self, ids: Iterable[str] = ()) -> None:
        self.ids: list[str] = [""]
        self._places: dict[str, int] = {"": 0}
        self.places([*ids])

    def places(self, ids: Collection[str]) -> Array:
        """Returns the places of these IDs; new ones are added."""
        known = self._places
        found = [*map(known.get, ids)]
        if None in found:
            for one in ids:
                if one not in known:
                    known[one] = len(self.ids)
                    self.ids.append(one)
            found = [*map(known.get, ids)]
        return np.array(found, np.int64)

    def place(self, one: str) -> int:
        """Returns the place of one ID; a new one is added."""
        return int(self.places((one,))[0])


def type_place(tag: Tag, code: str) -> int:
    """Returns the place of a type in `TYPES`."""
    return _PLACES[tag, code]


_PLACES: Final = {
    **{(Tag.REQUESTS, one.value): one.place for one in RequestType},
    **{(Tag.NOTIFICATIONS, one.value): one.place for one in NotificationType},
}


def empty() -> Cells:
    """Returns sums without a row."""
    none = np.zeros(0, np.int64)
    return Cells(dict.fromkeys(KEYS, none), {}, none, None, empty_rises())


def empty_rises(rows: int = 0) -> Rises:
    """Returns the response times of no call."""
    none = np.zeros(0, np.int64)
    return Rises(np.zeros(rows, np.int64), none, none)


def wide(column: Array) -> Array:
    """Returns a column as Python's own numbers, whose sums have no limit."""
    found: Array = column.astype(object)
    return found


def across(columns: Sequence[Array], rows: int) -> Array:
    """Returns the sum of the columns in each row, exact however large."""
    if not columns:
        return np.zeros(rows, np.int64)
    together = np.array(columns)
    if together.dtype != object and int(together.max(initial=0)) * len(columns) > LARGEST:
        together = wide(together)
    found: Array = together.sum(0)
    return found


def runs(starts: Array, lengths: Array) -> Array:
    """Returns the places `start`, `start` + 1, … of each run, one run after the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))


def _taken(columns: Mapping[str, Array], places: Array) -> dict[str, Array]:
    return {name: column[places] for name, column in columns.items()}


def _chosen_rises(rises: Rises, places: Array) -> Rises:
    starts, width = (np.cumsum(rises.width) - rises.width)[places], rises.width[places]
    at = runs(starts, width)
    return Rises(width, rises.place[at], rises.calls[at])
