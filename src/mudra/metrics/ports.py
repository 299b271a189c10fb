"""What the use cases of network metrics ask of storage and of the registry's readers."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mudra.metrics.catalogue import Tag
from mudra.metrics.check import CheckedReport
from mudra.metrics.coverage import TimeRange
from mudra.metrics.ingest import Decision, Known, PushKey, Receipt, WindowKey
from mudra.metrics.rollup import Rollup


@dataclass(frozen=True, slots=True)
class Cell:
    """One AA, one FIP, one tag, one type: the finest thing that is counted."""

    aa_id: str
    fip_id: str
    tag: Tag
    type: str


class Intake(Protocol):
    """One push inside its transaction, with the AA's pushes locked out of one another."""

    async def known(self, push: PushKey, window: WindowKey) -> Known:
        """What was stored before of this push and this window."""
        ...

    async def carry_out(self, decision: Decision, checked: CheckedReport) -> None:
        """Write figures, receipt and findings; on replacement keep the former version."""
        ...


class Reports(Protocol):
    """Payloads kept for good."""

    def intake(self, aa_id: str) -> AbstractAsyncContextManager[Intake]:
        """Open the one transaction of a push; durable when the context is left."""
        ...

    async def receipts(self, aa_id: str, within: TimeRange) -> Sequence[Receipt]:
        """An AA's receipts for these windows, newest version of each, in order of windows."""
        ...


class Figures(Protocol):
    """Sums for pictures, from roll-ups where whole hours or days are asked, else from raw rows."""

    async def totals(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Mapping[Cell, Rollup]:
        """The sums of every cell that had traffic."""
        ...

    async def by_window(
        self, within: TimeRange, *, fip_id: str | None = None
    ) -> Mapping[datetime, Mapping[Cell, Rollup]]:
        """The same for each window, for incidents."""
        ...

    async def heard(self, within: TimeRange) -> Mapping[tuple[str, Tag], Sequence[datetime]]:
        """Which windows each AA reported, whether or not they held traffic."""
        ...


class Members(Protocol):
    """Who takes part, as the registry tells."""

    async def reporting_aas(self, within: TimeRange) -> frozenset[str]:
        """AAs that were live during this time and so were to report."""
        ...

    async def live_fips(self) -> frozenset[str]:
        """FIPs with a live entry."""
        ...
