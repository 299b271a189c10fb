"""The test whether the volume that an AA reports can be true, by its history and the other AAs'.

The same limits bound what attribution takes for evidence. A new AA and a tenfold
jump on a festival day are within them.
"""

from datetime import timedelta
from typing import Final

from msgspec import Struct

from mudra.localization.language import translatable
from mudra.shared.finding import Finding, Severity

ENOUGH_HISTORY: Final = 6
"""Windows after which an AA is measured by its own history."""
GROWTH: Final = 20
SMALL: Final = 20_000
"""Calls that any AA may report on top of its history."""
AGAINST_OTHERS: Final = 1000
UNKNOWN_LIMIT: Final = 10_000_000
HISTORY: Final = timedelta(days=7)
SETTLED: Final = timedelta(days=1)
"""Reports of less time before are no history: else an AA that grows a little with each
window would raise its own limit."""
_HOUR_MS: Final = 3_600 * 1_000
LONGEST_MS: Final = 7 * 24 * _HOUR_MS
"""No call or FI request lasts longer: agents keep a request for seven days."""


class ReportedVolume(Struct, frozen=True):
    """Reports of one payload so far that are not held."""

    windows: int
    """Of the AA's own, older than a day."""
    peak: int
    """The most calls in a window of a day: the median over those days."""
    admitted: int
    """The most calls in a report of those days and since that an operator admitted."""
    others: int
    """The median of the other AAs' calls in the same window; 0 without any."""


class Doubt(Struct, frozen=True):
    """The reason for which a report is held: what it claims and the most that is plausible."""

    what: str
    claimed: int
    limit: int

    def note(self) -> Finding:
        """Returns the note for the AA's receipt."""
        return Finding(
            "$",
            f"is implausible: {self.claimed:,} {self.what}; the report is kept and counted only "
            "when the network's operator admits it",
            f"at most {self.limit:,} {self.what}",
            severity=Severity.NOTE,
        )


def doubt_time(longest_ms: int) -> Doubt:
    """Returns the doubt about a response time of more than `LONGEST_MS`."""
    hours, limit = -(-longest_ms // _HOUR_MS), LONGEST_MS // _HOUR_MS
    return Doubt(translatable("hours for one call"), hours, limit)


def doubt_volume(calls: int, volume: ReportedVolume) -> Doubt | None:
    """Returns the doubt about this number of calls; None when it is plausible."""
    if volume.windows >= ENOUGH_HISTORY:
        limit = GROWTH * volume.peak + SMALL
    else:
        limit = min(AGAINST_OTHERS * volume.others + SMALL * GROWTH, UNKNOWN_LIMIT)
    limit = max(limit, GROWTH * volume.admitted)
    return Doubt(translatable("calls"), calls, limit) if calls > limit else None
