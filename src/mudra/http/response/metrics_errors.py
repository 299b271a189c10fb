"""Rows of the table of errors.py for network metrics (decisions part 5)."""

from msgspec import Struct

from mudra.http.request.envelope import iso_ms
from mudra.http.response.errors import ErrorCode, Problem, add_row
from mudra.metrics.payload.ingest_rule import TxnIdReused
from mudra.metrics.payload.validation import ReportRefused


class TooManyPushes(Struct, frozen=True):
    """More pushes of one AA and tag than agents need, also while they catch up."""

    retry_after_s: int


class TooBusyForPushes(Struct, frozen=True):
    """As many pushes are under way as this node takes at once."""

    retry_after_s: int


class NotYourMetrics(Struct, frozen=True):
    """An AA reports for itself only."""

    caller: str


def _refused(r: ReportRefused) -> Problem:
    more = f" ({r.total} findings in all)" if r.total > 1 else ""
    return Problem(400, ErrorCode.INVALID_REQUEST, r.findings[0].sentence() + more)


def register() -> None:
    """Put the rows into the table."""
    add_row(ReportRefused, _refused)
    add_row(
        TxnIdReused,
        lambda r: Problem(
            409,
            ErrorCode.IDEMPOTENCY_ERROR,
            f"$.txnId was used at {iso_ms(r.earlier.received_at)} for other content; "
            "use a new txnId for each payload",
        ),
    )
    add_row(
        NotYourMetrics,
        lambda r: Problem(
            401,
            ErrorCode.UNAUTHORIZED,
            f"$.aaId must be {r.caller}, the entity of the token in Authorization",
            {"WWW-Authenticate": 'Bearer realm="mudra"'},
        ),
    )
    add_row(
        TooManyPushes,
        lambda r: Problem(
            429,
            ErrorCode.TOO_MANY_ATTEMPTS,
            "more pushes of this tag than are permitted; wait as Retry-After says",
            {"Retry-After": str(r.retry_after_s)},
        ),
    )
    add_row(
        TooBusyForPushes,
        lambda r: Problem(
            503,
            ErrorCode.SERVICE_UNAVAILABLE,
            "as many pushes are under way as can be taken at once; nothing was stored, try again",
            {"Retry-After": str(r.retry_after_s)},
        ),
    )


register()
