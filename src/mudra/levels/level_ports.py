"""The ports of service levels: sums, signatures, corrections."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from mudra.disputes.correction import Correction
from mudra.metrics.rollup.coverage import TimeRange
from mudra.metrics.sums.totals import Totals

Sign: TypeAlias = Callable[[bytes], tuple[str, Mapping[str, str]]]
"""Returns the detached signature of some bytes, and the public key (JWK) that checks it."""


class LevelSums(Protocol):
    """Sums of metrics with estimated times, of any range."""

    async def with_times(
        self,
        within: TimeRange,
        *,
        aa_id: str | None = None,
        fip_id: str | None = None,
        share: tuple[int, int] | None = None,
    ) -> Totals:
        """Returns the sums of each pair and type; `share` is one of so many parts of all FIPs."""
        ...

    async def of_aas(
        self, within: TimeRange, *, aa_id: str | None = None, fip_id: str | None = None
    ) -> Totals:
        """Returns the sums of each AA over all FIPs, or to one."""
        ...


class Corrections(Protocol):
    """The corrections that decided disputes make."""

    async def __call__(
        self, entity_id: str, start: datetime, end: datetime
    ) -> Sequence[Correction]:
        """Returns the corrections of a member that touch a time."""
        ...
