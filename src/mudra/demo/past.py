"""The days of the demonstration network's history to fill, and their traffic."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.demo.network import DEMO_NETWORK
from mudra.demo.traffic import Traffic
from mudra.metrics.payload.catalogue import WINDOW
from mudra.metrics.rollup.coverage import TimeRange

DEMO_FIPS: Final = tuple(m.entity_id for m in DEMO_NETWORK if m.entity_type == "FIP")


class Past(Struct, frozen=True):
    """The history to fill: its traffic, windows and seed."""

    traffic: Traffic
    within: TimeRange
    seed: int = 1
    left_out: Collection[tuple[str, datetime]] = ()
    """Windows of AAs that are reported already, or that their agents will report."""

    @property
    def days(self) -> tuple[TimeRange, ...]:
        """The days in it, the newest first; the first and the last may be partial."""
        found = []
        end = self.within.end
        while end > self.within.start:
            start = max(self.within.start, _midnight(end - WINDOW))
            found.append(TimeRange(start, end))
            end = start
        return tuple(found)


def _midnight(at: datetime) -> datetime:
    return at.replace(hour=0, minute=0, second=0, microsecond=0)
