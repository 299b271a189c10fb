"""Keeps the evaluation of days that are judged again, from one of its transactions to the next.

To judge a week of a national network again takes minutes. In one transaction it would hold back
the live windows and PostgreSQL's vacuum, and be rolled back whole when its time is over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mudra.metrics.detection.evaluation_run import EvaluationRun

Marks = Mapping[datetime, Sequence[int]]
"""The stale marks of each window."""


@dataclass
class DaysAgain:
    """An evaluation that several transactions share, in memory: it is stored whole, at its end.

    One job's run holds it; what fails with that run begins again. Memory holds the calls of one
    window at a time: a nation's are 560,000.
    """

    run: "EvaluationRun | None" = None
    """The evaluation so far; None before it begins."""
    marks: dict[datetime, Sequence[int]] = field(default_factory=dict)
    """The marks of the content that was read: of each window those known before it was."""

    def drop(self) -> None:
        """Forgets all of it: it is stored, or another process has judged its windows."""
        self.run, self.marks = None, {}
