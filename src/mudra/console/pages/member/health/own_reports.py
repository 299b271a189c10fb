"""The fate of an AA's own reports: held, missing and refused ones, on its health page."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_results import Download
from mudra.console.framework.table import Column, Table
from mudra.localization.language import current, gettext, translatable
from mudra.metrics.payload.held_reports import HeldReport, HeldReportService
from mudra.metrics.payload.receipt_service import Gap, ReceiptService
from mudra.metrics.ports import RefusedPush
from mudra.metrics.rollup.coverage import TimeRange

_HELD: Final = Table(
    "held-reports",
    translatable("Held reports"),
    (
        Column[HeldReport]("window", translatable("Window"), lambda one: one.window, "time"),
        Column[HeldReport]("payload", translatable("Payload"), lambda one: one.tag.value, "code"),
        Column[HeldReport](
            "claimed",
            translatable("Claimed"),
            lambda one: _amount(one.doubt.claimed, one.doubt.what),
            order=lambda one: one.doubt.claimed,
        ),
        Column[HeldReport](
            "limit",
            translatable("Plausible at most"),
            lambda one: one.doubt.limit,
            "number",
        ),
        Column[HeldReport](
            "received", translatable("Received"), lambda one: one.received_at, "time"
        ),
        Column[HeldReport]("receipt", translatable("Receipt"), lambda one: one.receipt_id, "below"),
    ),
    first_sort="-window",
)
_GAPS: Final = Table(
    "gaps",
    translatable("Gaps"),
    (
        Column[Gap]("since", translatable("From"), lambda gap: gap.within.start, "time"),
        Column[Gap]("until", translatable("To"), lambda gap: gap.within.end, "time"),
        Column[Gap]("windows", translatable("Windows"), lambda gap: gap.windows, "number"),
        Column[Gap]("payload", translatable("Payload"), lambda gap: gap.tag.value, "code"),
    ),
    first_sort="-since",
)
_REFUSED: Final = Table(
    "refused",
    translatable("Refused payloads"),
    (
        Column[RefusedPush]("at", translatable("When"), lambda push: push.at, "time"),
        Column[RefusedPush]("total", translatable("Findings"), lambda push: push.total, "number"),
        Column[RefusedPush](
            "first",
            translatable("First finding"),
            lambda push: push.findings[0].sentence() if push.findings else None,
            "english",
        ),
    ),
    first_sort="-at",
)


class OwnReports(Struct, frozen=True):
    """Held reports that wait, and reports of a time that are missing or were refused."""

    held: Sequence[HeldReport] = ()
    missing: Sequence[Gap] = ()
    refused: Sequence[RefusedPush] = ()

    def export(self, query: Mapping[str, str]) -> Download | None:
        """Return the table that the address asks for as CSV; None if it asks for none of these."""
        return (
            _HELD.export(self.held, query)
            or _GAPS.export(self.missing, query)
            or _REFUSED.export(self.refused, query)
        )

    def shown(self, query: Mapping[str, str]) -> Mapping[str, object]:
        """Return what the page shows of them."""
        return {
            "held": _HELD.view(self.held, query),
            "missing": sum(gap.windows for gap in self.missing),
            "gaps": _GAPS.view(self.missing, query),
            "refused": _REFUSED.view(self.refused, query),
        }


async def own_reports(page_context: PageContext, within: TimeRange) -> OwnReports:
    """Return what became of an AA's reports; held ones of any time, as each waits for someone."""
    tx, aa_id = page_context.tx, page_context.member.entity_id
    return OwnReports(
        await tx.service(HeldReportService).waiting_of(aa_id),
        await tx.service(ReceiptService).gaps(aa_id, within, page_context.now),
        await tx.service(ReceiptService).refused(aa_id, within),
    )


def _amount(number: int, what: str) -> str:
    return f"{current().number(number)} {gettext(what)}"
