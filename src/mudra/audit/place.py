"""The check that a sealed row belongs where it is: by its transaction, its number and its time.

The chain proves that nothing was touched after it was sealed. One who can write to the
database may also insert a row that claims to be older. The sealer takes rows in the order of
their transactions, so a genuine row is never far from its neighbours in any of the three.
"""

from collections import deque
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.audit.chain import Fault, Row

TOLERANCE: Final = timedelta(minutes=10)
"""Longer than any transaction of the service: so far may a row's time be from its place."""

_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


class PlaceCheck:
    """Takes the rows of the chain in order, and names what is wrong with the place of one.

    With a clock that is moved by hand (the sandbox's) times prove nothing and are not checked.
    """

    def __init__(self, *, clock_is_moved: bool = False) -> None:
        self._clock_is_moved = clock_is_moved
        self._epoch = 0
        self._last = (0, 0)
        self._latest = _BEGINNING
        self._least_id = 0
        self._recent: deque[tuple[datetime, int]] = deque()

    def fault(self, row: Row, until: datetime) -> Fault | None:
        """Check the next row, which was sealed by `until` at the latest."""
        if row.epoch != self._epoch:
            self._epoch, self._last = row.epoch, (0, 0)
        written = (row.xid, row.row_id)
        if written <= self._last or row.row_id <= self._least_id:
            return Fault.OUT_OF_ORDER
        at = row.event.at
        self._last = written
        if self._clock_is_moved:
            return None
        if at < self._latest - TOLERANCE or at > until + TOLERANCE:
            return Fault.MISDATED
        self._advance(at, row.row_id)
        return None

    def _advance(self, at: datetime, row_id: int) -> None:
        """Remember the greatest row IDs of the last minutes: older ones are a lower bound."""
        self._latest = max(self._latest, at)
        if not self._recent or row_id > self._recent[-1][1]:
            self._recent.append((self._latest, row_id))
        while self._recent and self._recent[0][0] < self._latest - TOLERANCE:
            self._least_id = self._recent.popleft()[1]


class Unsealed(Struct, frozen=True):
    """A row without a seal.

    `is_issued` is false for numbers that neither table nor cluster has given out yet.
    """

    row_id: int
    xid: int
    at: datetime
    is_issued: bool


class Reached(Struct, frozen=True):
    """The last row that the sealer took in this epoch; zeros when there is none."""

    xid: int
    row_id: int


def is_stray(row: Unsealed, reached: Reached) -> bool:
    """Return whether the sealer never sees this row, as it claims to be older or younger."""
    passed = (row.xid, row.row_id) <= (reached.xid, reached.row_id)
    return row.row_id <= 0 or passed or not row.is_issued
