"""Answers of the metrics addresses, for the OpenAPI document (decisions part 5)."""

from typing import Literal

from msgspec import Struct, field

from mudra.http.response.response_body import ResponseBody
from mudra.shared.finding import Finding


class PushResponse(ResponseBody, kw_only=True):
    """A payload was taken, now or before."""

    status: Literal["accepted", "duplicate", "replaced"]
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
    """Windows of one tag that were not received: from the start of the first to the end."""

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
