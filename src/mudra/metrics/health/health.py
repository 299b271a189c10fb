"""Health computed from counts: success, errors, status, outcomes, and reports received.

See decisions part 5. Missing data never counts as 100 %: a share of no calls is None.
"""

import enum
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.payload.catalogue import (
    FIRST_4XX,
    FIRST_5XX,
    Position,
    StatusPosition,
)
from mudra.metrics.rollup.percentage import share_of
from mudra.metrics.sums.rollup import LIMIT_MS, Late, ResponseTime, Rollup

GOOD_ABOVE_PERCENT: Final = 95
GOOD_BELOW_MS: Final = LIMIT_MS


class Status(enum.StrEnum):
    """The status of one API of one FIP."""

    GOOD = "GOOD"
    BAD = "BAD"
    UNSURE = "UNSURE"


class Errors(Struct, frozen=True):
    """Calls that did not succeed, by class. A 404 is an ordinary answer to a discovery."""

    not_found_404: int
    other_4xx: int
    server_5xx: int
    no_answer: int


class Health(Struct, frozen=True):
    """The health of one API. `success` is a share from 0 to 1, None without a denominator."""

    total: int
    succeeded: int
    eligible: int
    """Calls in the denominator: all but 4xx."""
    success: float | None
    errors: Errors
    status: Status
    certain: bool
    """The status holds for every p50 that the reports allow."""
    time: ResponseTime | None
    outvoted: tuple[str, ...] = ()
    """AAs whose calls the status leaves out, since most others see the opposite (weighing.py)."""


class FiOutcomes(Struct, frozen=True):
    """The outcomes of FI requests, from the `status` of `finot`, spec 2.6."""

    succeeded: int
    failed: int
    ready: int
    denied: int
    delivered: int
    timeout: int
    pending: int
    success: float | None


class Proof(Struct, frozen=True):
    """The number of reports received and expected; every aggregate includes it."""

    reporters_seen: int
    reporters_expected: int
    windows_received: int
    windows_expected: int

    @property
    def complete(self) -> bool:
        """True when every expected AA reported every window."""
        return self.windows_received == self.windows_expected > 0


def health_of_calls(row: Rollup) -> Health:
    """Returns the health of an API from request metrics: the responses of FIPs to AAs.

    Not for the two timings: they cannot fail.
    """
    status, certain = status_of_calls(row)
    return _health(row, status, certain=certain, time=row.time)


def status_of_calls(row: Rollup) -> tuple[Status, bool]:
    """Returns GOOD, BAD or UNSURE by the rule of decisions part 5, and whether that is certain.

    The median is below the limit if half of the answered calls are, rounded up. How many are is
    certain within two bounds that add up exactly, so the median of any sum is known that well.
    """
    if not _denominator(row.counts):
        return Status.UNSURE, True
    answered = row.answered
    if not answered or not _succeeds(row.counts):
        return Status.BAD, True
    late, most = row.late, answered // 2
    soon = late.estimate <= most
    return (Status.GOOD if soon else Status.BAD), _is_certain(late, most)


def _is_certain(late: Late, most: int) -> bool:
    return late.upper <= most or late.lower > most


def health_of_notifications(row: Rollup) -> Health:
    """Returns the health of the AAs that receive a FIP's notifications; no times are sent."""
    verdict = Status.GOOD if _succeeds(row.counts) else Status.BAD
    status = verdict if _denominator(row.counts) else Status.UNSURE
    return _health(row, status, certain=True, time=None)


def errors_of(counts: tuple[int, ...]) -> Errors:
    """Returns errors by class; "no answer" is the total less all responses."""
    missing = counts[Position.NOT_FOUND_404]
    return Errors(
        missing,
        sum(counts[FIRST_4XX:FIRST_5XX]) - missing,
        sum(counts[FIRST_5XX:]),
        counts[Position.TOTAL] - sum(counts[1:]),
    )


def fi_outcomes(row: Rollup) -> FiOutcomes:
    """Returns the outcomes of FI requests; success is the share of ended ones with data."""
    at = row.statuses
    good, failed = at[StatusPosition.SUCCEEDED], at[StatusPosition.FAILED]
    return FiOutcomes(
        good,
        failed,
        at[StatusPosition.READY],
        at[StatusPosition.DENIED],
        at[StatusPosition.DELIVERED],
        at[StatusPosition.TIMEOUT],
        at[StatusPosition.PENDING],
        share_of(good, good + failed),
    )


def proof(expected: Mapping[str, int], received: Mapping[str, Collection[datetime]]) -> Proof:
    """Compares the windows expected of each AA with those received.

    An AA that was not expected (its entry is newer, or was removed) adds nothing.
    """
    windows = {aa: min(len(set(received.get(aa, ()))), due) for aa, due in expected.items()}
    return Proof(
        reporters_seen=sum(1 for count in windows.values() if count),
        reporters_expected=sum(1 for due in expected.values() if due),
        windows_received=sum(windows.values()),
        windows_expected=sum(expected.values()),
    )


def _denominator(counts: tuple[int, ...]) -> int:
    return counts[Position.TOTAL] - sum(counts[FIRST_4XX:FIRST_5XX])


def _succeeds(counts: tuple[int, ...]) -> bool:
    # Whole numbers: 19 of 20 is exactly 95 % and not above it.
    return counts[Position.OK_200] * 100 > _denominator(counts) * GOOD_ABOVE_PERCENT


def _health(row: Rollup, status: Status, *, certain: bool, time: ResponseTime | None) -> Health:
    ok, eligible = row.counts[Position.OK_200], _denominator(row.counts)
    return Health(
        row.counts[Position.TOTAL],
        ok,
        eligible,
        share_of(ok, eligible),
        errors_of(row.counts),
        status,
        certain,
        time,
    )
