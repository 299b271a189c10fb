"""A file that proves a report: its signed text, its evidence, and what is wrong with them.

Everything here comes from a stranger's file: sizes and numbers are bounded before they are used.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct, structs

from mudra.levels.calculation import Asked, Figure, figures
from mudra.levels.evidence import Calls, Evidence, TimedCalls
from mudra.levels.report import (
    FORM,
    PURPOSE,
    Report,
    digest_of,
    encoded_evidence,
    read_report,
)
from mudra.metrics.payload.catalogue import COUNTS, MAX_COUNT, STATUSES
from mudra.metrics.sums.plain_percentile import PLACES, plain_percentile

MAX_BYTES: Final = 64 * 1024 * 1024
MAX_LENGTH_DAYS: Final = 400
_MAX_SHOWN: Final = 20
_Key = Annotated[str, Meta(max_length=64)]


class Proof(Struct, frozen=True, rename="camel"):
    """A report with all that it takes to check it, without any network."""

    report: str
    """The signed text, character by character."""
    signature: Annotated[str, Meta(max_length=4096)]
    """The detached signature of that text (RFC 7515 appendix F, RFC 7797)."""
    key: dict[str, str]
    """The public key (JWK) by which it was signed: compare it with the published one."""
    evidence: Evidence
    days: tuple[TimedCalls, ...] = ()
    """The calls of the evidence by day, as far as the service still has them."""


class Unreadable(Exception):
    """The file is no proof; says why."""


def read_proof(content: bytes) -> tuple[Proof, Report]:
    """Returns what a file holds; raises Unreadable for anything but a whole proof."""
    if len(content) > MAX_BYTES:
        raise Unreadable(f"the file has more than {MAX_BYTES} bytes")
    try:
        proof = msgspec.json.decode(content, type=Proof)
        report = read_report(proof.report.encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise Unreadable(f"the file is no proof of a report: {error}") from None
    if (report.purpose, report.form) != (PURPOSE, FORM):
        raise Unreadable(f"the report is not of the form {PURPOSE} {FORM}")
    return proof, report


def faults_of(proof: Proof, report: Report) -> list[str]:
    """Returns what is wrong with a report, number by number; the signature is checked apart."""
    evidence = proof.evidence
    found = [*_out_of_range(evidence, proof.days, report)]
    if found:
        return found[:_MAX_SHOWN]
    if digest_of(encoded_evidence(evidence)) != report.evidence:
        found.append("evidence: it is not what the report was made of (SHA-256 differs)")
    if evidence.spans != report.spans:
        found.append("spans: those of the report are not those of the evidence")
    if evidence.reports != report.reports:
        found.append("reports: the numbers of the report are not those of the evidence")
    found += _cut_wrongly(evidence)
    found += _beyond_whole(evidence)
    if proof.days:
        found += unequal_days(evidence, proof.days)
    counted = figures(evidence, report.member.role, report.targets, _percentiles)
    found += _unequal(report.figures, counted)
    return found[:_MAX_SHOWN]


def _percentiles(asked: Sequence[Asked]) -> list[int | None]:
    return [plain_percentile(*one) for one in asked]


def _out_of_range(evidence: Evidence, days: Sequence[TimedCalls], report: Report) -> Iterator[str]:
    if not report.start < report.end or (report.end - report.start).days > MAX_LENGTH_DAYS:
        yield f"the period must be above zero and at most {MAX_LENGTH_DAYS} days"
        return
    for place, calls in enumerate((*evidence.whole, *evidence.apart, *days)):
        sizes = len(calls.counts) == COUNTS and len(calls.statuses) in {0, STATUSES}
        numbers = (*calls.counts, *calls.statuses, calls.longest, *(n for _, n in calls.times))
        places = all(0 <= cell < PLACES for cell, _ in calls.times)
        if not sizes or not places or not all(0 <= one <= MAX_COUNT for one in numbers):
            yield f"calls {place + 1}: not the counts of spec 2.5"
    for span in evidence.spans:
        if not report.start <= span.start < span.end <= report.end:
            yield f"span {span.reference}: it is not within the period"
    numbers = (evidence.reported_windows, evidence.reports.expected, evidence.reports.received)
    if not all(0 <= one <= MAX_COUNT for one in numbers):
        yield "reports: a number is out of range"


def _cut_wrongly(evidence: Evidence) -> Iterator[str]:
    """Yields times that are not wholly inside or outside of each span."""
    times = {(one.at, one.until) for one in evidence.apart}
    for at, until in sorted(times):
        inside = [one for one in evidence.spans if one.start < until and one.end > at]
        if not inside or any(one.start > at or one.end < until for one in inside):
            yield f"calls from {at.isoformat()}: their time is not that of the spans"


_Sum = dict[tuple[str, str], tuple[Counter[str], int]]


def _sums(found: Iterable[Calls]) -> _Sum:
    sums: _Sum = {}
    for calls in found:
        total, longest = sums.get((calls.peer_id, calls.api), (Counter[str](), 0))
        for place, number in enumerate(calls.counts):
            total[f"count {place + 1}"] += number
        for place, number in enumerate(calls.statuses):
            total[f"status {place + 1}"] += number
        for cell, number in calls.times:
            total[f"time cell {cell}"] += number
        sums[calls.peer_id, calls.api] = total, max(longest, calls.longest)
    return sums


def _beyond_whole(evidence: Evidence) -> Iterator[str]:
    """Yields what the calls set apart have more of than all calls of the period."""
    whole = _sums(evidence.whole)
    # An AA's calls of the period are over all FIPs, those of the spans are not.
    together = {api for peer, api in whole if not peer}
    apart = (
        structs.replace(one, peer_id="") if one.api in together else one for one in evidence.apart
    )
    for (peer, api), (total, _) in _sums(apart).items():
        of_all = whole.get((peer, api), (Counter[str](), 0))[0]
        if any(number > of_all[name] for name, number in total.items()):
            yield f"{api} of {peer or 'all'}: more calls in the spans than in the period"


def unequal_days(evidence: Evidence, days: Sequence[TimedCalls]) -> Iterator[str]:
    """Yields the calls whose days do not add up to the period, as sentences."""
    whole, by_day = _sums(evidence.whole), _sums(days)
    for key in sorted({*whole, *by_day}):
        then, now = whole.get(key), by_day.get(key)
        if then is None or now is None or +then[0] != +now[0] or then[1] != now[1]:
            yield f"{key[1]} of {key[0] or 'all'}: the days do not add up to the period"


def _unequal(written: Sequence[Figure], computed: Sequence[Figure]) -> Iterator[str]:
    stated = {(one.measure, one.api): one for one in written}
    counted = {(one.measure, one.api): one for one in computed}
    if len(stated) != len(written):
        yield "figures: one is written twice"
    for key in sorted({*stated, *counted}):
        one, other = stated.get(key), counted.get(key)
        name = f"{key[0].value} of {key[1] or 'all calls'}"
        if one is None or other is None:
            yield f"{name}: only in the {'evidence' if one is None else 'report'}"
        elif one != other:
            yield f"{name}: the report says {_text(one, other)}"


def _text(one: Figure, other: Figure) -> str:
    differing = [
        f"{name} {getattr(one, name)}, the evidence gives {getattr(other, name)}"
        for name in one.__struct_fields__
        if getattr(one, name) != getattr(other, name)
    ]
    return "; ".join(differing)
