"""Marks of what sums are made of: while a mark is the same, so are the sums."""

from datetime import datetime

from msgspec import Struct


class ReportsMark(Struct, frozen=True):
    """The reports of a time: how many came, how many held ones were decided, and when the last."""

    reports: int
    last_received_at: datetime | None
    decided: int
    last_decided_at: datetime | None


class DayMark(Struct, frozen=True):
    """Says whether the health of a day may have changed since it was read."""

    sums: str
    """Another text once the sums of the day were made again, for whatever reason."""
    reports: ReportsMark | None
    """None for no report, and where it was not asked for."""

    def is_newer_than(self, read: "DayMark") -> bool:
        """Returns whether the day must be read again."""
        return self.sums != read.sums or (self.reports is not None and self.reports != read.reports)


class RangeMark(Struct, frozen=True):
    """Says what all sums of a range are made of."""

    days: tuple[datetime, ...]
    """The days (UTC) whose sums are read: no report came since they were made."""
    sums: str
    """Another text once the sums of any of these days were made again, for whatever reason."""
    reports: tuple[ReportsMark, ...]
    """Of the times around these days, in order."""
