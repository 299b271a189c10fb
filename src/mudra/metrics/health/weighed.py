"""What most AAs see of a FIP, as `weighing` finds it."""

from collections.abc import Mapping

from msgspec import Struct

from mudra.metrics.health.health import Status, status_of_calls
from mudra.metrics.payload.catalogue import FIRST_4XX, FIRST_5XX, Position
from mudra.metrics.rollup.percentage import share_of
from mudra.metrics.sums.rollup import Rollup


class Weighed(Struct, frozen=True):
    """What most AAs see of a FIP; `outvoted` are the AAs whose calls are left out."""

    sums: Rollup
    outvoted: tuple[str, ...] = ()

    @property
    def status(self) -> Status:
        """GOOD, BAD or UNSURE."""
        return status_of_calls(self.sums)[0]

    @property
    def total(self) -> int:
        """The number of calls."""
        return self.sums.counts[Position.TOTAL]

    @property
    def success(self) -> float | None:
        """The share of succeeded calls; None without a denominator."""
        return share_of(self.sums.counts[Position.OK_200], eligible(self.sums))


Disputed = Mapping[tuple[str, str], Weighed]
"""By FIP and type of request, where most AAs say other than the sums over all."""


def eligible(row: Rollup) -> int:
    """Returns the calls in the denominator of success: all but 4xx."""
    return row.counts[Position.TOTAL] - sum(row.counts[FIRST_4XX:FIRST_5XX])
