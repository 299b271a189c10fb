"""What the use cases of network metrics ask of storage and of the registry's readers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from msgspec import Struct

from mudra.metrics.incidents.silence import Silence
from mudra.metrics.notifications.incident_notifications import StoredIncident
from mudra.metrics.notifications.webhook import Webhook
from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.ingest_rule import Accept, Decision, Known, PushKey, Receipt, WindowKey
from mudra.metrics.payload.report import RequestBlock
from mudra.metrics.payload.validation import CheckedReport, ReportRefused
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.rollup.pair import ALL_CALLS, PairSums
from mudra.metrics.rollup.rollup import Rollup
from mudra.metrics.rollup.step import Step
from mudra.shared.finding import Finding
from mudra.shared.secret_text import SecretText


class Cell(Struct, frozen=True):
    """One AA, one FIP, one tag, one type: the finest thing that is counted."""

    aa_id: str
    fip_id: str
    tag: Tag
    type: str


class Pair(Struct, frozen=True):
    """One AA and one FIP."""

    aa_id: str
    fip_id: str


class Reports(Protocol):
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


class RefusedPush(Struct, frozen=True):
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


class DayMark(Struct, frozen=True):
    """How many reports a day has, and when the last of them came."""

    reports: int
    last_received_at: datetime


class Calls(NamedTuple):
    """Calls of one type by one AA to one FIP in one window; never one of the two timings."""

    aa_id: str
    fip_id: str
    block: RequestBlock


class RollupQueries(Protocol):
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

    async def calls_of(self, window: datetime) -> Sequence[Calls]:
        """What every AA called in one window, from its raw rows, for incidents."""
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
        types: frozenset[str],
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
    ) -> Mapping[datetime, Rollup]:
        """The sums of all requests of these type codes together, by the start of the step.

        A step without any is not there.
        """
        ...


class Members(Protocol):
    """Who takes part, as the registry tells."""

    async def reporting_aas(self) -> Mapping[str, datetime]:
        """AAs that are to report, with the time from which."""
        ...

    async def live_fips(self) -> frozenset[str]:
        """FIPs that are onboarded and neither suspended nor retired."""
        ...

    async def is_member(self, entity_id: str) -> bool:
        """Tell whether an entity of this ID was ever onboarded."""
        ...


class Incidents(Protocol):
    """What people ask about incidents, and do about them."""

    async def shown(
        self, *, only_open: bool, entity_id: str | None, limit: int
    ) -> Sequence[StoredIncident]:
        """The latest incidents, newest first."""
        ...

    async def known(self, since: datetime) -> Sequence[StoredIncident]:
        """Incidents that are open, or ended after this moment; oldest first."""
        ...

    async def one(self, incident_id: str) -> StoredIncident | None:
        """The incident of this ID, however old."""
        ...

    async def acknowledge(self, incident_id: str, who: str, instead_of: str | None) -> bool:
        """Note that somebody looks after it; False when there is none of this ID.

        False, too, when it is not `instead_of` who looks after it (empty: nobody; None: whoever).
        """
        ...


class Silences(Protocol):
    """Times in which nobody is woken."""

    async def keep(self, silence: Silence) -> None:
        """Keep a new one."""
        ...

    async def shown(self, since: datetime) -> Sequence[Silence]:
        """Those that end after a moment, the earliest end first."""
        ...

    async def end(self, silence_id: str, at: datetime) -> Silence | None:
        """End one that is not over; None when there is none of this ID."""
        ...


class Webhooks(Protocol):
    """Where programs hear of alarms."""

    async def all(self, entity_id: str | None) -> Sequence[Webhook]:
        """Those of one entity (empty: of the network itself), or all for None; oldest first."""
        ...

    async def keep(self, webhook: Webhook, secret: SecretText) -> None:
        """Keep a new one with the key that signs its messages, sealed."""
        ...

    async def remove(self, webhook_id: str, entity_id: str | None) -> Webhook | None:
        """Remove it with what it waits for; None when it is not there, or not this entity's."""
        ...
