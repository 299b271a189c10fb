"""An AA's queries about its own reports: receipts, gaps and refused payloads."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.metrics.payload.catalogue import WINDOW, Tag
from mudra.metrics.payload.ingest_rule import Receipt
from mudra.metrics.ports import Members, Receipts, RefusedPush
from mudra.metrics.rollup.coverage import ReportingTimes, TimeRange, closed_before, due_until, gaps

_MAX_REFUSED: Final = 20
_LAST_DAY: Final = timedelta(days=1)


class Gap(Struct, frozen=True):
    """Windows of one payload that were expected and not received."""

    tag: Tag
    within: TimeRange

    @property
    def windows(self) -> int:
        """The number of windows."""
        return (self.within.end - self.within.start) // WINDOW


class ReceiptsQuery(Struct, frozen=True):
    """The windows, and the first one of this page."""

    within: TimeRange
    after: datetime
    limit: int


class ReceiptsPage(Struct, frozen=True):
    """One page of receipts; `next` is where the following one begins, None at the end."""

    receipts: Sequence[Receipt]
    gaps: Sequence[Gap]
    refused: Sequence[RefusedPush]
    next: datetime | None


class ReceiptService(Struct, frozen=True):
    """Reads in the caller's transaction."""

    store: Receipts
    members: Members

    async def find(self, receipt_id: str) -> Receipt | None:
        """Returns the receipt of this ID, a UUID, of any AA; None without it."""
        return await self.store.receipt(receipt_id)

    async def page(self, aa_id: str, query: ReceiptsQuery, now: datetime) -> ReceiptsPage:
        """Returns a page of an AA's receipts, with the gaps and refused payloads of the time."""
        within = query.within
        page = await self.store.receipts(aa_id, TimeRange(query.after, within.end), query.limit + 1)
        following = None
        if len(page) > query.limit:
            following = page[query.limit].key.window
            page = [receipt for receipt in page if receipt.key.window < following]
        return ReceiptsPage(
            page, await self.gaps(aa_id, within, now), await self.refused(aa_id, within), following
        )

    async def gaps(self, aa_id: str, within: TimeRange, now: datetime) -> list[Gap]:
        """Returns the windows that are due, that an AA had to report and did not."""
        times = (await self.members.reporting_aas()).get(aa_id, ReportingTimes())
        due = TimeRange(within.start, min(within.end, due_until(now)))
        received = await self.store.windows(aa_id, within)
        return [
            Gap(tag, gap)
            for tag in Tag
            for expected in times.within(due)
            for gap in gaps(expected, received[tag])
        ]

    async def missing_windows(self, aa_id: str, now: datetime) -> int:
        """Returns how many windows of the last 24 hours lack one of the two payloads."""
        within = closed_before(now, _LAST_DAY)
        found = await self.gaps(aa_id, within, now)
        return max(sum(gap.windows for gap in found if gap.tag is tag) for tag in Tag)

    async def refused(self, aa_id: str, within: TimeRange) -> Sequence[RefusedPush]:
        """Returns the latest payloads that were refused since the start of a time."""
        return await self.store.refused(aa_id, within.start, _MAX_REFUSED)
