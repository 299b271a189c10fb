"""Responses about pushed reports and their receipts."""

from msgspec import Struct, field

from mudra.http.response.response_body import ResponseBody
from mudra.metrics.payload.ingest_rule import IngestStatus, Receipt
from mudra.metrics.payload.receipt_service import Gap, ReceiptsPage
from mudra.metrics.rollup.coverage import TimeRange
from mudra.shared.finding import Finding
from mudra.shared.time_text import iso_ms


class PushResponse(ResponseBody, kw_only=True):
    """A report was accepted, now or before."""

    status: IngestStatus
    receipt_id: str = field(name="receiptId")
    findings: list[Finding]


class ReceiptDetails(Struct, rename="camel", kw_only=True):
    """One receipt."""

    receipt_id: str
    tag: str
    window: str
    version: int
    txn_id: str
    received_at: str
    late: bool
    findings: list[Finding]


class GapDetails(Struct, rename="camel", kw_only=True):
    """Windows of one payload that were not received, from the start of the first to the end."""

    tag: str
    start: str
    end: str
    windows: int


class RefusedDetails(Struct, rename="camel", kw_only=True):
    """A payload that was answered with 400."""

    at: str
    total: int
    findings: list[Finding]


class ReceiptsResponse(ResponseBody, kw_only=True):
    """An AA's own receipts; `next` continues, null at the end."""

    aa_id: str = field(name="aaId")
    start: str = field(name="from")
    end: str = field(name="to")
    receipts: list[ReceiptDetails]
    gaps: list[GapDetails]
    refused: list[RefusedDetails]
    next: str | None


def receipts_response(aa_id: str, within: TimeRange, page: ReceiptsPage) -> ReceiptsResponse:
    """Returns the response with a page of receipts."""
    return ReceiptsResponse(
        aa_id=aa_id,
        start=iso_ms(within.start),
        end=iso_ms(within.end),
        receipts=[_receipt(receipt) for receipt in page.receipts],
        gaps=[_gap(gap) for gap in page.gaps],
        refused=[
            RefusedDetails(at=iso_ms(one.at), total=one.total, findings=list(one.findings))
            for one in page.refused
        ],
        next=iso_ms(page.next) if page.next else None,
    )


def _receipt(receipt: Receipt) -> ReceiptDetails:
    return ReceiptDetails(
        receipt_id=receipt.receipt_id,
        tag=receipt.key.tag.value,
        window=iso_ms(receipt.key.window),
        version=receipt.version,
        txn_id=receipt.txn_id,
        received_at=iso_ms(receipt.received_at),
        late=receipt.late,
        findings=list(receipt.findings),
    )


def _gap(gap: Gap) -> GapDetails:
    return GapDetails(
        tag=gap.tag.value,
        start=iso_ms(gap.within.start),
        end=iso_ms(gap.within.end),
        windows=gap.windows,
    )
