"""The ports of network metrics: its queries to storage and to the registry."""

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from mudra.metrics.detection.heard import CallsOfIncident, Heard
from mudra.metrics.detection.window_reports import Received
from mudra.metrics.health.fip_state import FipStateStore
from mudra.metrics.health.own_calls import OwnCallsStore
from mudra.metrics.incidents.incident import StoredIncident
from mudra.metrics.incidents.silence import Silence
from mudra.metrics.notifications.incident_notifications import IncidentNotification
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.ingest_rule import Accept, Decision, Known, PushKey, Receipt, WindowKey
from mudra.metrics.payload.report_facts import StorableReport
from mudra.metrics.payload.validation import ReportRefused
from mudra.metrics.rollup.coverage import FOREVER, Reported, ReportingTimes, TimeRange
from mudra.metrics.rollup.marks import DayMark, RangeMark
from mudra.metrics.rollup.step import Step
from mudra.shared.finding import Finding

if TYPE_CHECKING:
    from mudra.metrics.sums.totals import Totals


class Pair(Struct, frozen=True):
    """One AA and one FIP."""

    aa_id: str
    fip_id: str


class Reports(Protocol):
    """Pushed reports inside one transaction; durable once it has ended."""

    async def lock(self, aa_id: str) -> datetime:
        """Locks out other pushes of this AA until the transaction ends; returns the time."""
        ...

    async def known(self, push: PushKey, window: WindowKey) -> Known:
        """Returns what is stored of this push and this window."""
        ...

    async def carry_out(self, decision: Decision, checked: StorableReport) -> None:
        """Writes counts, receipt and findings; on replacement keeps the previous version."""
        ...

    async def accept_all(
        self, accepted: Sequence[tuple[Accept, StorableReport]], watched_from: datetime
    ) -> None:
        """Writes many at once; incidents are detected in windows from `watched_from` on."""
        ...

    async def keep_refused(self, aa_id: str, refused: ReportRefused) -> None:
        """Stores the findings of a refused payload, so that its sender can look them up."""
        ...


class RefusedPush(Struct, frozen=True):
    """A payload that was answered with 400."""

    at: datetime
    total: int
    findings: tuple[Finding, ...]


class Receipts(Protocol):
    """An AA's queries about its own pushes."""

    async def receipts(self, aa_id: str, within: TimeRange, limit: int) -> Sequence[Receipt]:
        """Returns receipts for these windows, newest version of each, by window and tag."""
        ...

    async def receipt(self, receipt_id: str) -> Receipt | None:
        """Returns the receipt of this ID, a UUID; None without it."""
        ...

    async def windows(self, aa_id: str, within: TimeRange) -> Mapping[Tag, Sequence[datetime]]:
        """Returns the windows for which anything was received."""
        ...

    async def refused(self, aa_id: str, since: datetime, limit: int) -> Sequence[RefusedPush]:
        """Returns refused payloads, the latest first."""
        ...


class RollupQueries(Protocol):
    """Sums of any time range, always equal to the sums of the reports that are counted."""

    async def totals(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> "Totals":
        """Returns the sums of each pair and type; of a single window, what was reported."""
        ...

    async def over_aas(
        self, within: TimeRange, *, fip_id: str | None = None, tag: Tag | None = None,
        codes: Collection[str] = (),
    ) -> "Totals":  # fmt: skip
        """Returns the sums of each FIP over all AAs, of all types or these."""
        ...

    async def of_aas(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> "Totals":
        """Returns the sums of each AA over all FIPs, or to one."""
        ...

    async def of_pairs(
        self, within: TimeRange, *, aa_id: str | None = None, times: bool = True,
        fip_ids: Collection[str] | None = None,
    ) -> "Totals":  # fmt: skip
        """Returns the sums of each pair and type, of these FIPs; None for all."""
        ...

    async def of_times(
        self, times: Mapping[str, Sequence[TimeRange]], *, aa_id: str | None, with_times: bool
    ) -> "Totals":
        """Returns the sums of each pair and type in each of these times of a FIP, at its begin."""
        ...

    async def calls_of_pairs(self, within: TimeRange) -> "Totals":
        """Returns the sums of all calls for customers of each pair, without percentiles."""
        ...

    def seen_by_most(self, days: Collection[datetime]) -> AsyncIterator[tuple[datetime, "Totals"]]:
        """Gives all calls to each FIP as most AAs see them, of each of these days that has it.

        It is stored once a day (UTC) is over. What is stale or damaged is left out.
        """
        ...

    async def pairs(
        self, within: TimeRange, codes: Collection[str], *, fip_ids: Collection[str] | None = None
    ) -> "Totals":
        """Returns the sums of each pair, type and FIP (None: all), without percentiles."""
        ...

    async def contested(
        self, within: TimeRange, codes: Collection[str], whole: "Totals"
    ) -> "Totals":
        """Returns the sums of each pair and type of FIPs of which most AAs may say other than all.

        Without percentiles; none of other FIPs. `whole` are the sums of `over_aas` of this range,
        of these types at least, read in the same transaction.
        """
        ...

    async def has_more_pairs(self, within: TimeRange, limit: int) -> bool:
        """Returns whether more pairs than this reported within a range."""
        ...

    async def steps(
        self, within: TimeRange, step: Step, types: Collection[str], *,
        aa_id: str | None = None, fip_id: str | None = None,
    ) -> "Totals":  # fmt: skip
        """Returns the sums of requests of these types together, a row a step that has traffic."""
        ...


class ReportMarks(Protocol):
    """The reports that came, and marks by which a reader sees that others came since."""

    async def marks(self, within: TimeRange, reports_from: datetime) -> Mapping[datetime, DayMark]:
        """Returns a mark of each day (UTC) with sums or reports.

        Its reports are asked for from a day on: before, a day changes with its sums alone.
        """
        ...

    async def reported_until(self, within: TimeRange) -> datetime | None:
        """Returns the end of the last window that any AA reported; None for no report."""
        ...

    async def mark(self, within: TimeRange, aa_id: str | None = None) -> RangeMark:
        """Returns a mark of a range, of one AA or of all: while it is the same, so are all sums."""
        ...

    async def received_by_day(
        self, within: TimeRange
    ) -> Mapping[datetime, Mapping[tuple[str, Tag], int]]:
        """Returns how many windows each AA reported on each day (UTC) that has any.

        Receipts are kept for `MUDRA_METRICS_HOUR_DAYS`.
        """
        ...

    async def received(self, within: TimeRange, due_until: datetime = FOREVER) -> Reported:
        """Returns how many windows each AA reported; those from `due_until` on are early."""
        ...


class MetricsTables(Protocol):
    """Creates partitions ahead of time and deletes old rows."""

    async def make_ahead(self) -> None:
        """Creates the partitions of today and the next days."""
        ...

    async def delete_of_raw(self, before: datetime) -> None:
        """Deletes what is kept as long as reports: held and refused ones."""
        ...

    async def delete_receipts(self, before: datetime) -> bool:
        """Deletes the oldest day of receipts from before a day; returns whether there was one."""
        ...

    async def delete_silences(self, before: datetime) -> None:
        """Deletes silences that ended before a moment, and what is known of emails until then."""
        ...

    async def drop_raw(self, before: datetime) -> str | None:
        """Drops the oldest table of reports from before a day; returns its name."""
        ...

    async def drop_hours(self, before: datetime) -> str | None:
        """Drops the oldest table of sums by hour from before a day; returns its name."""
        ...


class Members(Protocol):
    """The members of the network, according to the registry."""

    async def reporting_aas(self) -> Mapping[str, ReportingTimes]:
        """Returns the AAs that must report, or had to before they were suspended or retired."""
        ...

    async def never_reported(self, aa_ids: Collection[str]) -> frozenset[str]:
        """Returns which of these AAs never sent a report."""
        ...

    async def live_fips(self) -> frozenset[str]:
        """Returns the FIPs that are onboarded and neither suspended nor retired."""
        ...

    async def onboarded_fips(self) -> frozenset[str]:
        """Returns the FIPs that were ever onboarded, also those suspended or retired."""
        ...

    async def providers(self) -> Mapping[str, str]:
        """Returns the gateway service provider of each FIP whose live entry names one."""
        ...

    async def is_member(self, entity_id: str) -> bool:
        """Returns whether an entity of this ID was ever onboarded."""
        ...

    async def is_fiu(self, entity_id: str) -> bool:
        """Returns whether a FIU was ever onboarded under this ID."""
        ...

    async def names(self) -> Mapping[str, str]:
        """Returns the names of all entities by ID."""
        ...


class Incidents(Protocol):
    """Stored incidents."""

    async def latest(
        self, *, only_open: bool, entity_id: str | None, limit: int, with_reopened: bool = False
    ) -> Sequence[StoredIncident]:
        """Returns the latest incidents, newest first.

        `only_open` by the evidence; `with_reopened` those too that people reopened.
        """
        ...

    async def since(self, moment: datetime) -> Sequence[StoredIncident]:
        """Returns incidents that are open, or ended after this moment; oldest first."""
        ...

    async def find(self, incident_id: str) -> StoredIncident | None:
        """Returns the incident of this ID, however old."""
        ...

    async def of_ids(self, incident_ids: Sequence[str]) -> Sequence[StoredIncident]:
        """Returns the incidents of these IDs that there are, the newest first."""
        ...


class Detections(Incidents, FipStateStore, OwnCallsStore, Protocol):
    """The records that incident detection reads and keeps."""

    async def lock(self, *, patient: bool) -> None:
        """Locks out other detections until the transaction ends; `patient` waits for minutes."""
        ...

    async def stale_windows(self, now: datetime) -> Mapping[datetime, Sequence[int]]:
        """Returns closed windows with new content, and the stale marks that say so."""
        ...

    async def clear(self, marks: Sequence[int]) -> None:
        """Deletes the stale marks of windows that were evaluated."""
        ...

    async def are_left(self, marks: Sequence[int]) -> bool:
        """Returns whether none of these marks was deleted."""
        ...

    async def heard(self, window: datetime) -> Heard:
        """Returns what all AAs reported of a window, and which reports are damaged."""
        ...

    async def counted(self, calls: CallsOfIncident) -> tuple[int, int]:
        """Returns the calls of an incident that succeeded, and all but 4xx, by what is stored."""
        ...

    async def first_called(self, within: TimeRange) -> datetime | None:
        """Returns the first of these windows of which any AA reported calls; None for none."""
        ...

    async def received(self, within: TimeRange) -> Sequence[Received]:
        """Returns the first receipt of each AA, tag and window."""
        ...

    async def first_received(self, since: datetime) -> datetime | None:
        """Returns the first window from this one on that any AA reported; None for none."""
        ...

    async def last_evaluated(self) -> datetime | None:
        """Returns the last window that was evaluated; None before the first."""
        ...

    async def journal_before(self, window: datetime) -> bytes | None:
        """Returns the latest journal from before a window; None when there is none."""
        ...

    async def save_journals(
        self,
        journals: AsyncIterator[tuple[datetime, bytes]],
        *,
        since: datetime,
        drop_before: datetime,
    ) -> None:
        """Replaces all journals from a window on; keeps older ones of full hours."""
        ...

    async def mark_escalated(self, incident_ids: Sequence[str], now: datetime) -> None:
        """Stores that these incidents were escalated."""
        ...

    async def save(self, notifications: Collection[IncidentNotification], now: datetime) -> None:
        """Stores what has changed about incidents."""
        ...


class PublicMembers(Members, Protocol):
    """The members of the network as the public status shows them."""

    async def groups(self) -> Mapping[str, tuple[str, ...]]:
        """Returns the groups of each institution with a live entry, by what it serves."""
        ...


CountAlone = Callable[[str], Awaitable[None]]
"""Lets no other transaction count against a limit, which allows one more, until this one ends."""


class Silences(Protocol):
    """Stored silences."""

    async def add(self, silence: Silence) -> None:
        """Stores a new one."""

    async def ending_after(self, moment: datetime) -> Sequence[Silence]:
        """Returns those that end after a moment, the earliest end first."""
        ...

    async def change(self, silence: Silence) -> None:
        """Stores the times, the reason and the announcement of one in place of those before."""

    async def end(self, silence_id: str, at: datetime, by: str) -> Silence | None:
        """Ends one that has not ended; None when there is none of this ID."""
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
