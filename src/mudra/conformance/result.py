"""What came out of a run."""

import enum
from collections.abc import Sequence

from msgspec import Struct

from mudra.conformance.check import Basis


class Verdict(enum.StrEnum):
    """The outcome of a check."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Result(Struct, frozen=True, rename="camel"):
    """One check with its outcome; nothing in it is secret."""

    check_id: str
    part: str
    title: str
    line: str
    basis: Basis
    verdict: Verdict
    seconds: float
    expected: str = ""
    came: str = ""
    reason: str = ""


class Report(Struct, frozen=True, rename="camel"):
    """A run: what was checked, when, and all results in their order."""

    subject: str
    started_at: str
    results: Sequence[Result]

    def count(self, verdict: Verdict) -> int:
        """Return how many checks have this outcome."""
        return sum(one.verdict is verdict for one in self.results)
