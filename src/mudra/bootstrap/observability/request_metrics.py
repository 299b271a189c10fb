"""Figures of answered requests, gathered in memory and brought to Prometheus with each pulse.

Four writes into the library's shared files for each request would cost as much
as reading its body.
"""

from mudra.bootstrap.observability.telemetry import CLOCK_AHEAD, REQUESTS, SECONDS, WITHOUT_DATABASE
from mudra.storage.caching.without_database import WithoutDatabase
from mudra.storage.database.clock_watch import ClockWatch

_Key = tuple[str, str, int]
"""Path, method, status."""


class RequestMetrics:
    """Gathers; `flush` counts what was gathered."""

    def __init__(self, clock_watch: ClockWatch, without_database: WithoutDatabase) -> None:
        self._clock_watch = clock_watch
        self._without_database = without_database
        self._seconds: dict[_Key, list[float]] = {}

    def note(self, path: str, method: str, status: int, seconds: float) -> None:
        """Note an answered request; the caller bounds how many paths there are."""
        key = (path, method, status)
        gathered = self._seconds.get(key)
        if gathered is None:
            gathered = self._seconds[key] = []
        gathered.append(seconds)

    def flush(self) -> None:
        """Count what was gathered since the last time."""
        gathered, self._seconds = self._seconds, {}
        for (path, method, status), seconds in gathered.items():
            REQUESTS.labels(path, method, str(status)).inc(len(seconds))
            SECONDS.labels(path).observe_all(seconds)
        CLOCK_AHEAD.set(self._clock_watch.ahead.total_seconds())
        WITHOUT_DATABASE.set(self._without_database.seconds())
