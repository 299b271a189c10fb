"""Health as it is read from counts: success, errors, status, outcomes, and reports received.

Missing data never counts as 100 %: a share of no calls is None.
"""

import enum
from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from mudra.metrics.sums.rollup import LIMIT_MS, ResponseTime

GOOD_ABOVE_PERCENT: Final = 95
GOOD_BELOW_MS: Final = LIMIT_MS


class Status(enum.StrEnum):
    """The status of one API of one FIP."""

    GOOD = "GOOD"
    BAD = "BAD"
    UNSURE = "UNSURE"
    DEGRADED = "DEGRADED"
    """In the feed alone: something is wrong at the FIP, and the network's rule is kept."""


class ErrorDetails(Struct, frozen=True, gc=False):
    """Calls that did not succeed, by class."""

    # A 404 is an ordinary answer to a discovery.
    not_found_404: int = field(name="notFound404")
    other_4xx: int = field(name="other4xx")
    server_5xx: int = field(name="server5xx")
    no_answer: int = field(name="noAnswer")


class Health(Struct, frozen=True, gc=False):
    """The health of one API. `success` is a share from 0 to 1, None without a denominator."""

    total: int
    succeeded: int
    eligible: int
    """Calls in the denominator: all but 4xx."""
    success: float | None
    errors: ErrorDetails
    status: Status
    certain: bool
    """The status holds for every p50 that the reports allow."""
    time: ResponseTime | None
    outvoted: tuple[str, ...] = ()
    """AAs whose calls the status leaves out, since most others see the opposite (weighing.py)."""


NO_CALLS: Final = Health(
    0, 0, 0, None, ErrorDetails(0, 0, 0, 0), Status.UNSURE, certain=True, time=None
)


class FiOutcomes(Struct, frozen=True, gc=False):
    """The outcomes of FI requests, from the `status` of `finot` in pushes."""

    succeeded: int
    failed: int
    ready: int
    denied: int
    delivered: int
    timeout: int
    pending: int
    success: float | None


NO_OUTCOMES: Final = FiOutcomes(0, 0, 0, 0, 0, 0, 0, None)


class Weighed(Struct, frozen=True):
    """Most AAs' judgement of a FIP: its status, calls, and the share of those that succeeded."""

    status: Status
    total: int
    success: float | None
    """From 0 to 1; None without a denominator."""
    outvoted: tuple[str, ...] = ()
    """The AAs whose calls are left out."""


Disputed = Mapping[tuple[str, str], Weighed]
"""By FIP and type of request, where most AAs say other than the sums over all."""
