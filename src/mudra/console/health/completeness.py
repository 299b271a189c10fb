"""How complete the reports of a time are: up to when they came, and when the next are due."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.metrics.incidents.window_reports import deadline_of
from mudra.metrics.payload.catalogue import WINDOW, window_start
from mudra.metrics.rollup.coverage import Coverage, Proof, TimeRange

_MOST_NAMED: Final = 3
"""AAs that are named where reports lack; of more there is a list."""


class Completeness(Struct, frozen=True):
    """The reports of a time: those received and expected, and up to when they came."""

    proof: Proof
    until: datetime
    end: datetime
    """The end of the time, up to the last window that is over."""
    lacking: Sequence[str] = ()
    """The names of the AAs of which reports are missing, where they are few."""

    @property
    def is_pending(self) -> bool:
        """Returns whether the newest windows were not reported, and may still be."""
        return self.until < self.end

    @property
    def due(self) -> datetime:
        """The time until which the last of the pending windows has to be reported."""
        return deadline_of(self.end - WINDOW)


def completeness(
    coverage: Coverage,
    within: TimeRange,
    now: datetime,
    aa_id: str = "",
    names: Mapping[str, str] | None = None,
) -> Completeness:
    """Returns how complete the reports are; AAs of which some are missing have these `names`."""
    end = min(within.end, window_start(now))
    lacking = [
        (names or {}).get(one, one)
        for one in sorted(coverage.expected)
        if aa_id in {"", one} and _lacks(coverage.proof(one))
    ]
    return Completeness(
        coverage.proof(aa_id),
        coverage.reported_until(end, now, aa_id),
        end,
        lacking if names is not None and len(lacking) <= _MOST_NAMED and not aa_id else (),
    )


def _lacks(proof: Proof) -> bool:
    return proof.windows_received < proof.windows_expected
