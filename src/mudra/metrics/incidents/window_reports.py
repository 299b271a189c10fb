"""What the reports of a window say, as storage has it, who sent them, and who was to."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import WINDOW, Tag

REPORT_GRACE: Final = timedelta(minutes=15)
"""A report is in time until so long after the end of its window."""


class WindowReports(Struct, frozen=True):
    """Who reported one window, and who was to; the calls come apart (window_calls.py)."""

    window: datetime
    expected: frozenset[str]
    """AAs that were to report."""
    requests: Mapping[str, datetime]
    """When the request metrics of an AA were first received."""
    notifications: frozenset[str]
    """AAs of which notification metrics were received."""
    maintained: frozenset[str] = frozenset()
    """Entities in planned maintenance: nothing is evaluated about them."""

    def without(self, lost: Collection[tuple[str, Tag]]) -> "WindowReports":
        """Returns the same as if these reports, of an AA and a tag each, had not come."""
        requests = {aa: at for aa, at in self.requests.items() if (aa, Tag.REQUESTS) not in lost}
        notifications = frozenset(
            aa for aa in self.notifications if (aa, Tag.NOTIFICATIONS) not in lost
        )
        return replace(self, requests=requests, notifications=notifications)

    @property
    def late(self) -> frozenset[str]:
        """AAs whose report came after its time."""
        deadline = deadline_of(self.window)
        return frozenset(aa for aa, at in self.requests.items() if at > deadline)


class Received(NamedTuple):
    """The first receipt of one tag of one AA's window."""

    aa_id: str
    tag: Tag
    window: datetime
    at: datetime


def deadline_of(window: datetime) -> datetime:
    """Returns the time until which a window's reports are in time."""
    return window + WINDOW + REPORT_GRACE


def is_complete(
    reports: WindowReports, silent: frozenset[str], now: datetime, before: frozenset[str]
) -> bool:
    """Returns whether a window can be evaluated: every report that may still come is in.

    Agents spread their pushes over minutes, and a window evaluated by half of them would
    blame the wrong side. No one waits for an AA that is known to be silent, nor for
    notification metrics of one that sent none for the window `before`.
    """
    if now >= deadline_of(reports.window):
        return True
    awaited = reports.expected - silent - reports.maintained
    return awaited <= reports.requests.keys() and (awaited & before) <= reports.notifications
