"""Responses about implausible reports, which the command line shows as well."""

from msgspec import Struct

from mudra.http.response.response_body import ResponseBody
from mudra.metrics.payload.held_reports import HeldReport
from mudra.shared.time_text import iso_ms


class HeldReportDetails(Struct, rename="camel", kw_only=True):
    """One implausible report: `claimed` and `plausible` count what `doubt` names."""

    receipt_id: str
    aa_id: str
    tag: str
    window: str
    received_at: str
    doubt: str
    claimed: str
    plausible: str
    state: str
    decided_by: str
    decided_at: str | None


class HeldReportsResponse(ResponseBody, kw_only=True):
    """Implausible reports, the latest first."""

    reports: list[HeldReportDetails]


class HeldReportResponse(ResponseBody, kw_only=True):
    """One implausible report as it is now."""

    report: HeldReportDetails


def held_details(held: HeldReport) -> HeldReportDetails:
    """Returns the wire shape; numbers may be over 2^53, so they are texts."""
    return HeldReportDetails(
        receipt_id=held.receipt_id,
        aa_id=held.aa_id,
        tag=held.tag.value,
        window=iso_ms(held.window),
        received_at=iso_ms(held.received_at),
        doubt=held.doubt.what,
        claimed=str(held.doubt.claimed),
        plausible=str(held.doubt.limit),
        state=held.state.value,
        decided_by=held.decided_by,
        decided_at=iso_ms(held.decided_at) if held.decided_at else None,
    )
