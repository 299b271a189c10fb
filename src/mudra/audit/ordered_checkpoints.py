"""Checkpoints in the order of the rows that they count, found by halving.

A year has some 50,000 of them, and a verification asks for them page by page and row by row.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime

from mudra.audit.chain import Checkpoint


class OrderedCheckpoints:
    """Checkpoints by the number of rows that they count; those of one number in their order."""

    def __init__(self, checkpoints: Iterable[Checkpoint]) -> None:
        self._ordered = sorted(checkpoints, key=lambda one: one.count)
        self._counts = [one.count for one in self._ordered]

    def after(self, row: int, until: int | None = None) -> Sequence[Checkpoint]:
        """Return those that count more rows than this one, up to `until` or all of them."""
        end = len(self._counts) if until is None else bisect_right(self._counts, until)
        return self._ordered[bisect_right(self._counts, row) : end]

    def sealed_by(self, row: int, otherwise: datetime) -> datetime:
        """Return the time of the first that counts this row; `otherwise` when none does."""
        place = bisect_left(self._counts, row)
        return self._ordered[place].at if place < len(self._ordered) else otherwise
