"""Keeps the evaluation of days that are judged again, from one of its transactions to the next.

To judge a week of a national network again takes minutes. In one transaction it would hold back
the live windows and PostgreSQL's vacuum, and be rolled back whole when its time is over.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mudra.metrics.incidents.evaluation_run import EvaluationRun

Marks = Mapping[datetime, Sequence[int]]
"""The stale marks of each window."""


class DaysAgain:
    """An evaluation that several transactions share, in memory: it is stored whole, at its end.

    One job's run holds it; what fails with that run begins again.
    """

    def __init__(self) -> None:
        self._run: EvaluationRun | None = None
        self._marks: dict[datetime, Sequence[int]] = {}

    @property
    def run(self) -> "EvaluationRun | None":
        """The evaluation so far; None before it begins."""
        return self._run

    @property
    def marks(self) -> Marks:
        """The marks of the content that was read: of each window those known before it was."""
        return self._marks

    def keep(self, run: "EvaluationRun") -> None:
        """Goes on with this one in the next transaction."""
        self._run = run

    def know(self, marks: Marks) -> None:
        """Adds the marks of windows whose content is yet to be read."""
        self._marks |= marks

    def drop(self) -> None:
        """Forgets all of it: it is stored, or another process has judged its windows."""
        self._run = None
        self._marks = {}
