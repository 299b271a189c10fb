"""The reports of a window as storage has them, who sent them, and who was to."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mudra.metrics.payload.catalogue import WINDOW, Tag

_PUSHED_WITHIN: Final = timedelta(minutes=4)
_LATELY: Final = timedelta(minutes=2)
"""The watch passes a few times in it, also on a busy machine."""
REPORT_GRACE: Final = timedelta(minutes=15)
"""A report is in time until so long after the end of its window."""


class WindowReports(Struct, frozen=True):
    """The AAs that reported one window, and who was to; the calls come apart (window_calls.py)."""

    window: datetime
    expected: frozenset[str]
    """AAs that were to report."""
    requests: Mapping[str, datetime]
    """When the request metrics of an AA were first received."""
    notifications: frozenset[str]
    """AAs of which notification metrics were received."""
    maintained: frozenset[str] = frozenset()
    """Entities in planned maintenance: nothing is evaluated about them."""

    @property
    def at_hand(self) -> "WindowReports":
        """Returns the same as if no other report was expected: of a late agent nothing is said."""
        return replace(self, expected=self.expected & self.requests.keys())

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


class Before(NamedTuple):
    """The AAs that reported the window before, as far as it is known now."""

    requests: frozenset[str]
    notifications: frozenset[str]


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
    reports: WindowReports, silent: frozenset[str], now: datetime, before: Before
) -> bool:
    """Returns whether a window can be evaluated: every report that may still come is in.

    Agents spread their pushes over minutes, and a window evaluated by half of them would
    blame the wrong side. No one waits for an AA that is known to be silent, nor for
    notification metrics of one that sent none for the window `before`.
    """
    if now >= deadline_of(reports.window):
        return True
    awaited = _awaited(reports, silent)
    notifying = awaited & before.notifications
    return awaited <= reports.requests.keys() and notifying <= reports.notifications


def suffices(reports: WindowReports, silent: frozenset[str], now: datetime, before: Before) -> bool:
    """Returns whether the reports at hand say what is wrong, while some may still come.

    Those of two AAs of three do, and those of all but one. Of the others no one waits longer than
    agents spread their pushes over, nor at all for one whose report of the window before has not
    come either.
    """
    awaited = _awaited(reports, silent)
    here = awaited & reports.requests.keys()
    missing = awaited - here
    if not here or len(missing) > max(len(here) // 2, 1):
        return False
    in_time = reports.window + WINDOW + _PUSHED_WITHIN
    return now >= in_time or are_silent(reports, silent, before)


def are_silent(reports: WindowReports, silent: frozenset[str], before: Before) -> bool:
    """Returns whether nothing is missing that its AA sent for the window before: nothing is late.

    Neither requests nor notifications.
    """
    awaited = _awaited(reports, silent)
    late = awaited & before.requests - reports.requests.keys()
    return not late and not awaited & before.notifications - reports.notifications


def _awaited(reports: WindowReports, silent: frozenset[str]) -> frozenset[str]:
    return reports.expected - silent - reports.maintained


def is_news(reports: WindowReports, now: datetime) -> bool:
    """Returns whether more is known of a window since the last look: a report came, or is late."""
    times = [*reports.requests.values(), reports.window + WINDOW + _PUSHED_WITHIN]
    return any(timedelta() <= now - at < _LATELY for at in times)


def received_by(reports: WindowReports) -> datetime:
    """Returns when the last report came that was in time, else until when it could."""
    deadline = deadline_of(reports.window)
    in_time = [at for at in reports.requests.values() if at <= deadline]
    return max(in_time) if in_time else deadline


def sent(received: Sequence[Received], tag: Tag) -> frozenset[str]:
    """Returns the AAs that sent this payload."""
    return frozenset(one.aa_id for one in received if one.tag is tag)
