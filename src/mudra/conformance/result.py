"""The outcome of a run."""

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
    request: str = ""
    """Method and address of the request that a failure is about."""


class PartSummary(Struct, frozen=True):
    """The results of the checks of one part of the specification."""

    part: str
    passed: int
    failed: int
    skipped: int


class Cause(Struct, frozen=True):
    """An answer that came instead, with the checks that failed by it: one fault."""

    came: str
    checks: Sequence[str]


class Report(Struct, frozen=True, rename="camel"):
    """A run: what was checked, when, and all results in their order."""

    subject: str
    started_at: str
    results: Sequence[Result]

    def parts(self) -> Sequence[PartSummary]:
        """Return how the checks of each part ended, in the order of the parts."""
        names = sorted({one.part for one in self.results})
        return [
            PartSummary(
                name,
                *(
                    sum(one.part == name and one.verdict is verdict for one in self.results)
                    for verdict in Verdict
                ),
            )
            for name in names
        ]

    def causes(self) -> Sequence[Cause]:
        """Return what came instead in more than one check, what failed most first."""
        found: dict[str, list[str]] = {}
        for one in self.results:
            if one.verdict is Verdict.FAILED:
                found.setdefault(one.came, []).append(one.check_id)
        several = [Cause(came, ids) for came, ids in found.items() if len(ids) > 1]
        return sorted(several, key=lambda one: -len(one.checks))

    def count(self, verdict: Verdict) -> int:
        """Return how many checks have this outcome."""
        return sum(one.verdict is verdict for one in self.results)
