"""What the use cases of network metrics ask of storage and of the registry's readers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from mudra.finding import Finding
from mudra.metrics.catalogue import Tag
from mudra.metrics.check import CheckedReport, ReportRefused
from mudra.metrics.coverage import TimeRange
from mudra.metrics.ingest import Accept, Decision, Known, PushKey, Receipt, WindowKey
from mudra.metrics.pair import ALL_CALLS, PairSums
from mudra.metrics.rollup import Rollup
from mudra.metrics.step import Step


@dataclass(frozen=True, slots=True)
class Cell:
    """One AA, one FIP, one tag, one type: the finest thing that is counted."""

    aa_id: str
    fip_id: str
    tag: Tag
    type: str


@dataclass(frozen=True, slots=True)
class Pair:
    """One AA and one FIP."""

    aa_id: str
    fip_id: str


class Intake(Protocol):
    """Pushes inside one transaction; durable once it has ended."""

    async def lock(self, aa_id: str) -> datetime:
        """Keep other pushes of this AA out until the transaction ends; gives the time."""
        ...

    async def known(self, push: PushKey, window: WindowKey) -> Known:
        """What was stored before of this push and this window."""
        ...

    async def carry_out(self, decision: Decision, checked: CheckedReport) -> None:
        """Write figures, receipt and findings; on replacement keep the former version."""
        ...

    async def accept_all(
        self, accepted: Sequence[tuple[Accept, CheckedReport]], watched_from: datetime
    ) -> None:
        """Write many at once; the watch is told of windows from `watched_from` on."""
        ...

    async def keep_refused(self, aa_id: str, refused: ReportRefused) -> None:
        """Remember what was wrong with a payload, so that its sender can look it up."""
        ...


@dataclass(frozen=True, slots=True)
class RefusedPush:
    """A payload that was answered with 400."""

    at: datetime
    total: int
    findings: tuple[Finding, ...]


class Receipts(Protocol):
    """What an AA can look up about its own pushes."""

    async def receipts(self, aa_id: str, within: TimeRange, limit: int) -> Sequence[Receipt]:
        """Receipts for these windows, newest version of each, in order of windows and tags."""
        ...

    async def windows(self, aa_id: str, within: TimeRange) -> Mapping[Tag, Sequence[datetime]]:
        """The windows of which anything was received."""
        ...

    async def refused(self, aa_id: str, since: datetime, limit: int) -> Sequence[RefusedPush]:
        """Payloads that were refused, the latest first."""
        ...


@dataclass(frozen=True, slots=True)
class DayMark:
    """How many reports a day has, and when the last of them came."""

    reports: int
    last_received_at: datetime


class Figures(Protocol):
    """Sums for pictures, from roll-ups where whole hours or days are asked, else from raw rows."""

    async def totals(
        self,
        within: TimeRange,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
        tag: Tag | None = None,
    ) -> Mapping[Cell, Rollup]:
        """The sums of every cell that had traffic."""
        ...

    async def over_aas(
        self, within: TimeRange, *, fip_id: str | None = None, tag: Tag | None = None
    ) -> Mapping[Cell, Rollup]:
        """The same over all AAs together: `aa_id` of each cell is empty. Much cheaper."""
        ...

    async def pairs(self, within: TimeRange, code: str = ALL_CALLS) -> Mapping[Pair, PairSums]:
        """The sums for the matrix, over one type of request or over all calls."""
        ...

    async def by_window(self, within: TimeRange) -> Mapping[datetime, Mapping[Cell, Rollup]]:
        """The sums of each window from its raw rows, for incidents."""
        ...

    async def marks(self, within: TimeRange) -> Mapping[datetime, DayMark]:
        """A mark of each day (UTC) that has reports; while it stays, so do the day's sums."""
        ...

    async def heard(self, within: TimeRange) -> Mapping[tuple[str, Tag], int]:
        """How many windows each AA reported, whether or not they held traffic."""
        ...


class Series(Protocol):
    """Sums for charts, step by step, as true to the raw rows as those of Figures."""

    async def steps(
        self,
        within: TimeRange,
        step: Step,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
        tag: Tag | None = None,
    ) -> Mapping[datetime, Mapping[Cell, Rollup]]:
        """The sums by the start of the step; without `aa_id` of AAs, or of all AAs together."""
        ...


class Members(Protocol):
    """Who takes part, as the registry tells."""

    async def reporting_aas(self) -> Mapping[str, datetime]:
        """AAs that are live and so are to report, with the time from which."""
        ...

    async def live_fips(self) -> frozenset[str]:
        """FIPs with a live entry."""
        ...
