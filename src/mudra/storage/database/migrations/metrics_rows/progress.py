"""Says how far the conversion is: which table, how much of how much, how long still."""

import time
from typing import Final

import structlog

_EVERY_S: Final = 10.0
_MB: Final = 1_000_000
_log = structlog.get_logger()


class Progress:
    """Counts the bytes of the old tables that are done, and writes a line every ten seconds."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0.0
        self._began = self._said = time.monotonic()

    def begin(self) -> None:
        """Writes the first line."""
        _log.info("the metrics are converted", of_mb=round(self._total / _MB))

    def step(self, table: str, number: int, of: int, size: float) -> None:
        """Counts a piece of a table, and its share in bytes; the last one is always said."""
        self._done += size
        now = time.monotonic()
        if now - self._said < _EVERY_S and number < of:
            return
        self._said = now
        left = (now - self._began) * (self._total / self._done - 1) if self._done else None
        _log.info(
            "the metrics are converted",
            table=table,
            piece=number,
            of_pieces=of,
            done_mb=round(self._done / _MB),
            of_mb=round(self._total / _MB),
            left_s=None if left is None else max(0, round(left)),
        )

    def skip(self, size: float) -> None:
        """Counts what is done already."""
        self._done += size

    def end(self) -> None:
        """Writes the last line."""
        _log.info("the metrics are blocks now", took_s=round(time.monotonic() - self._began, 1))
