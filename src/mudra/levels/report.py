"""A report: the levels of a member in a period, as they are signed."""

import hashlib
from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from mudra.levels.calculation import Figure, PercentilesOf, figures
from mudra.levels.evidence import Evidence, MissedReports, Span
from mudra.levels.spans import MaintenanceRule, Member
from mudra.levels.target import Measure, Target
from mudra.metrics.rollup.coverage import TimeRange

FORM: Final = 1
PURPOSE: Final = "serviceLevels"


class Change(Struct, frozen=True, rename="camel"):
    """A number that differs from the version before."""

    measure: str
    api: str
    number: str
    """`value`, `part` or `whole` of the figure."""
    before: float | None
    after: float | None


class Report(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One version of the levels of a member, or of the network, in a period."""

    purpose: str
    form: int
    issuer: str
    member: Member
    start: datetime
    end: datetime
    version: int
    made_at: datetime
    figures: tuple[Figure, ...]
    targets: tuple[Target, ...]
    """Those of the first day of the period."""
    rule: MaintenanceRule
    spans: tuple[Span, ...]
    reports: MissedReports
    changes: tuple[Change, ...]
    """Since the version before; empty for the first."""
    reasons: tuple[str, ...]
    """Why they changed: late reports, decided disputes, incidents found or withdrawn."""
    evidence: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """SHA-256 of the evidence as compact JSON."""

    def by_api(self, measures: Container[Measure]) -> Mapping[str, Mapping[Measure, Figure]]:
        """Returns the figures of these measures by API, in their order."""
        found: dict[str, dict[Measure, Figure]] = {}
        for one in self.figures:
            if one.measure in measures:
                found.setdefault(one.api, {})[one.measure] = one
        return found


_encoder: Final = msgspec.json.Encoder()


def encoded_evidence(evidence: Evidence) -> bytes:
    """Returns the evidence as compact JSON: equal evidence has equal bytes."""
    return _encoder.encode(evidence)


def digest_of(encoded: bytes) -> str:
    """Returns the SHA-256 of encoded evidence."""
    return hashlib.sha256(encoded).hexdigest()


def report_of(  # noqa: PLR0913  # each argument is one fact of the report
    member: Member,
    within: TimeRange,
    evidence: Evidence,
    encoded: bytes,
    targets: Sequence[Target],
    *,
    issuer: str,
    rule: MaintenanceRule,
    now: datetime,
    percentiles_of: PercentilesOf,
) -> Report:
    """Returns the first version of a report; `encoded` is its evidence as it is stored."""
    own = tuple(one for one in targets if one.role is member.role)
    return Report(
        PURPOSE,
        FORM,
        issuer,
        member,
        within.start,
        within.end,
        1,
        now,
        figures(evidence, member.role, own, percentiles_of),
        own,
        rule,
        evidence.spans,
        evidence.reports,
        (),
        (),
        digest_of(encoded),
    )


def next_version(before: Report, made: Report) -> Report | None:
    """Returns what was made as the version after another; None where no number differs."""
    if made.figures == before.figures:
        return None
    return replace(
        made,
        version=before.version + 1,
        changes=tuple(_changes(before.figures, made.figures)),
        reasons=tuple(_reasons(before, made)),
    )


def signed_text(report: Report) -> bytes:
    """Returns the bytes that are signed."""
    return msgspec.json.format(_encoder.encode(report), indent=1)


def read_report(text: bytes) -> Report:
    """Returns the report of signed bytes; raises msgspec.MsgspecError for others."""
    return msgspec.json.decode(text, type=Report)


def _changes(before: Sequence[Figure], after: Sequence[Figure]) -> list[Change]:
    old = {(one.measure, one.api): one for one in before}
    new = {(one.measure, one.api): one for one in after}
    found = []
    for key in [*new, *(key for key in old if key not in new)]:
        was, now = old.get(key), new.get(key)
        for number in ("value", "part", "whole", "target"):
            then, current = getattr(was, number, None), getattr(now, number, None)
            if then != current:
                found.append(Change(key[0].value, key[1], number, then, current))
    return found


def _reasons(before: Report, after: Report) -> list[str]:
    found = []
    if after.reports.received != before.reports.received:
        found.append(
            f"reports: {before.reports.received} were received before, {after.reports.received} now"
        )
    old, new = set(before.spans), set(after.spans)
    found += [f"now {_named(one)}" for one in after.spans if one not in old]
    found += [f"no longer {_named(one)}" for one in before.spans if one not in new]
    return found or ["replaced reports or other targets"]


def _named(span: Span) -> str:
    return f"{span.fate.value}: {span.cause} ({span.reference})"
