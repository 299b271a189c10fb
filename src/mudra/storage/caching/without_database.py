"""Entity tokens from memory while there is no database: off unless permitted (decision 0080).

What memory had when the database was last proven alive may be used for so many seconds more. A
reset or a suspension that another node commits meanwhile is not known here.
"""

from time import monotonic
from typing import Final

import structlog

_OVERDUE_S: Final = 1.0
"""A proof that takes longer means that the database does not answer."""
_log = structlog.get_logger()


class WithoutDatabase:
    """The state of a database that is away, and since when it is no longer proven."""

    def __init__(self, permitted_s: float) -> None:
        self._permitted_s = permitted_s
        self._proven_at = float("-inf")
        self._asked_at: float | None = None
        self._lost = False
        self._is_in_use = False

    def asked(self, now: float) -> None:
        """Note that a proof was asked for."""
        self._asked_at = now

    def lost(self) -> None:
        """Note that the connection is lost."""
        self._lost = True

    def proven(self, at: float) -> None:
        """Note a proof: memory is no longer used instead."""
        self._proven_at, self._asked_at, self._lost = at, None, False
        if self._is_in_use:
            self._is_in_use = False
            _log.warning("entity tokens rest on the database again")

    def permits(self, now: float) -> bool:
        """Return whether memory may be used although the database is away."""
        overdue = self._asked_at is not None and now - self._asked_at > _OVERDUE_S
        permits = (self._lost or overdue) and now - self._proven_at <= self._permitted_s
        if permits and not self._is_in_use:
            self._is_in_use = True
            _log.warning(
                "entity tokens are issued from memory, without a database",
                seconds=self._permitted_s,
            )
        return permits

    def seconds(self) -> float:
        """Return for how long tokens have been issued without a database; 0 when they are not."""
        away_s = monotonic() - self._proven_at
        return away_s if self._is_in_use and away_s <= self._permitted_s else 0.0
