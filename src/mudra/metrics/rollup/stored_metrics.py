"""The acts of a command of the node's machine on stored metrics: orders, results, and the port."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec import Struct

from mudra.audit.event import Caller
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.rollup.damage import Checked


class SumsPlace(NamedTuple):
    """The sums of an AA, or over all (empty), of a time."""

    aa_id: str
    grain: str
    at: datetime

    @property
    def words(self) -> str:
        """The same as a person reads it."""
        return f"{self.grain} of {self.aa_id or 'all AAs'} at {self.at.isoformat()}"


class Remade(Struct, frozen=True):
    """The outcome of sums that were to be made again: done, or the reason why not."""

    place: SumsPlace
    problem: str = ""


class ExportOrder(Struct, frozen=True):
    """The choice of rows to export, and where to."""

    days: Sequence[date]
    """Days of UTC that are over."""
    grain: str
    form: str
    """`csv` or `parquet`."""
    out: Path
    """A folder; the file itself where it ends like `form`, for one day."""
    aa_id: str = ""
    fip_id: str = ""
    again: bool = False
    """Write files that are there once more."""
    year: int = 0
    """All days of this year in one Parquet file; 0 for a file a day."""


class ExportedFile(Struct, frozen=True):
    """A file of an export; `rows` is None where it was there before."""

    path: Path
    rows: int | None
    size: int
    """Bytes."""


OnBytes = Callable[[int, int], None]
"""Is given how many bytes of how many were read."""
OnRows = Callable[[str, int], None]
"""Is given the name of a file and how many of its rows are written."""


class ExportRefused(Exception):
    """An export that cannot be made: the sentence says why, and the way out."""


class StoredMetrics(Protocol):
    """The stored metrics, each act in transactions of its own."""

    async def check(self, on_bytes: OnBytes) -> Checked:
        """Reads all blocks; returns the damaged ones."""
        ...

    async def remake(self, places: Sequence[SumsPlace]) -> Sequence[Remade]:
        """Makes sums again of what is finer, one after the other."""
        ...

    async def remove(self, aa_id: str, tag: Tag, window: datetime, caller: Caller) -> bool:
        """Removes a damaged report; returns False where it is not damaged."""
        ...

    async def last_whole_day(self) -> date:
        """Returns the last day (UTC) that is over."""
        ...

    async def export(self, order: ExportOrder, on_rows: OnRows) -> Sequence[ExportedFile]:
        """Writes a file for each day, or of a year. Raises ExportRefused, BlockDamaged, OSError."""
        ...
