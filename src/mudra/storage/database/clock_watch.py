"""The distance of this machine's clock from the database's, measured all the time.

Tokens carry this machine's time, and other nodes read them by theirs. A node that is an hour
ahead would issue tokens that all others refuse.
"""

from datetime import datetime, timedelta
from typing import Final

import structlog

from mudra.shared.clock import CLOCK_TOLERANCE, Clock
from mudra.shared.unavailable import Outage, ServiceUnavailable

ALARM_FROM: Final = timedelta(seconds=1)

_log = structlog.get_logger()


class ClockWatch:
    """The result of the last measurement; the sandbox's moved time has no part in it."""

    def __init__(self, machine_clock: Clock) -> None:
        self.machine_clock: Final = machine_clock
        self.ahead = timedelta()
        """Of the database's clock; negative when this machine's is behind it."""

    def measured(self, sent_at: datetime, database: datetime, received_at: datetime) -> None:
        """Note a measurement; the way to the database and back counts for neither side."""
        before = self.ahead
        ahead = max(sent_at - database, timedelta()) + min(received_at - database, timedelta())
        self.ahead = ahead
        if abs(ahead) > ALARM_FROM >= abs(before):
            _log.error("this machine's clock is wrong: set up NTP", ahead_s=_seconds(ahead))
        if abs(ahead) > CLOCK_TOLERANCE >= abs(before):
            _log.error("this node answers 503 until its clock is right", ahead_s=_seconds(ahead))
        if abs(before) > CLOCK_TOLERANCE >= abs(ahead):
            _log.warning("this node answers again", ahead_s=_seconds(ahead))
        if abs(before) > ALARM_FROM >= abs(ahead):
            _log.warning("this machine's clock is right again", ahead_s=_seconds(ahead))

    def outage(self) -> ServiceUnavailable | None:
        """Return why this node must not answer, None while its clock is near the database's."""
        if abs(self.ahead) <= CLOCK_TOLERANCE:
            return None
        side = "ahead of" if self.ahead > timedelta() else "behind"
        return ServiceUnavailable(
            Outage.CLOCK,
            sentence=f"the clock of this node is {abs(self.ahead).total_seconds():.0f} s {side} "
            "that of its database",
        )


def _seconds(ahead: timedelta) -> float:
    return round(ahead.total_seconds(), 3)
