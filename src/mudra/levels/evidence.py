"""The evidence of a report: the exact sums and windows of which its numbers are made."""

import enum
from datetime import datetime

from msgspec import Struct


class Fate(enum.StrEnum):
    """The fate of the calls of some windows."""

    OWN = "own"
    """An outage of the member: its failed calls are lost."""
    ELSEWHERE = "elsewhere"
    """A cause at another member, a path or the network: left out."""
    UNSURE = "unsure"
    """The evidence fits the member and another cause equally well: left out, and shown."""
    MAINTENANCE = "maintenance"
    """Planned, and announced as long before as the network's rule asks: left out."""
    LEFT_OUT = "left_out"
    """Left out by the decision about a dispute."""
    EXCUSED = "not_against_member"
    """Failed calls are left out by the decision about a dispute; the others count."""


class Span(Struct, frozen=True, rename="camel"):
    """Windows from `start` until before `end` in which calls have a fate, and why."""

    fate: Fate
    reference: str
    """The ID of the incident, maintenance or correction."""
    cause: str
    start: datetime
    end: datetime
    apis: tuple[str, ...] = ()
    """Empty for all."""
    peers: tuple[str, ...] = ()
    """The AAs of a FIP, or the FIPs of an AA, whose calls these are; empty for all."""

    def covers(self, at: datetime, peer_id: str, api: str) -> bool:
        """Returns whether the calls of a window, a peer and an API are among these."""
        return (
            self.start <= at < self.end
            and (not self.apis or api in self.apis)
            and (not self.peers or peer_id in self.peers)
        )


class Calls(Struct, frozen=True, rename="camel", omit_defaults=True):
    """The calls of one API in a time, between the member and one other."""

    peer_id: str
    """The AA that called a FIP, the FIP that an AA called; empty for all together."""
    api: str
    counts: tuple[int, ...]
    """The 15 counts of spec 2.5."""
    statuses: tuple[int, ...] = ()
    """The 7 of `finot`, spec 2.6."""
    longest: int = 0
    """Milliseconds."""
    times: tuple[tuple[int, int], ...] = ()
    """Cells of time, and the calls that took so long, by estimate."""


class TimedCalls(Calls, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """The calls from a time until before another."""

    at: datetime
    until: datetime


class MissedReports(Struct, frozen=True, rename="camel"):
    """Reports of AAs in the period: two for each window of ten minutes."""

    expected: int
    received: int
    reporters_expected: int
    reporters_seen: int


class Evidence(Struct, frozen=True, rename="camel"):
    """All that the numbers of a report are made of."""

    whole: tuple[Calls, ...]
    """The calls of the period."""
    apart: tuple[TimedCalls, ...]
    """Those of `spans`, which are among the whole, cut wherever a span begins or ends."""
    spans: tuple[Span, ...]
    reported_windows: int
    """Windows of the period that any AA reported."""
    silent: tuple[datetime, ...]
    """Windows of `spans` that no AA reported."""
    reports: MissedReports
