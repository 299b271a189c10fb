"""Time: the only file that asks the machine what time it is.

Everything else receives a `Clock` or an instant. The sandbox's time machine
moves `ServiceClock` forward; nothing outside the sandbox can.
"""

import time
from datetime import UTC, datetime, timedelta


class ServiceClock:
    """The machine's clock plus the sandbox's offset (zero outside the sandbox)."""

    def __init__(self) -> None:
        self.offset = timedelta()

    def __call__(self) -> datetime:
        """Give the present, moved by the offset."""
        return self.machine() + self.offset

    def monotonic(self) -> float:
        """Give seconds that only grow, for what is kept so long: the sandbox's move on too."""
        return time.monotonic() + self.offset.total_seconds()

    @staticmethod
    def machine() -> datetime:
        """Give the present as the machine has it."""
        return datetime.now(UTC)
