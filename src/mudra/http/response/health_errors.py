"""Rows of errors.py for pictures of health and implausible reports."""

from collections.abc import Callable, Sequence
from typing import Final

from mudra.http.response.problem import Problem, conflict, error_row, invalid, not_found
from mudra.metrics.health.too_many_pairs import TooManyPairs
from mudra.metrics.payload.held_reports import (
    HeldReportDecided,
    HeldReportReplaced,
    NoSuchHeldReport,
)
from mudra.shared.refusal import Refusal

HEALTH_ROWS: Final[Sequence[tuple[type[Refusal], Callable[[Refusal], Problem]]]] = (
    error_row(TooManyPairs, lambda r: invalid(r.sentence())),
    error_row(NoSuchHeldReport, lambda _: not_found("no implausible report has this receipt")),
    error_row(
        HeldReportDecided,
        lambda r: conflict(f"the report was {r.state.value} by {r.by} before"),
    ),
    error_row(
        HeldReportReplaced,
        lambda _: conflict("the AA has reported this window again; the later report counts"),
    ),
)
