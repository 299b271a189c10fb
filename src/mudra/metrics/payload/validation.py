"""Validates payloads by spec 2.5 and spec 2.6.

A valid payload passes a strict decode and one tight loop, a few milliseconds
for 2,200 blocks. Only one that fails is walked again, to report every error.
"""

import hashlib
from collections.abc import Container, Sequence
from datetime import datetime
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from mudra.metrics.payload.catalogue import (
    MAX_SIZE_DIGITS,
    STATUS_NAMES,
    TIMING_CODES,
    NotificationType,
    RequestType,
    StatusPosition,
)
from mudra.metrics.payload.explain import explain
from mudra.metrics.payload.plain_json import as_meant, read_json
from mudra.metrics.payload.report import (
    Block,
    NotificationFip,
    NotificationMetrics,
    Report,
    RequestBlock,
    RequestFip,
    RequestMetrics,
    tag_of,
)
from mudra.metrics.payload.report_facts import ReportFacts
from mudra.metrics.payload.window_rule import parse_utc, window_findings, zone_notes
from mudra.shared.finding import Finding, Severity
from mudra.shared.refusal import Refusal, RefusalKind
from mudra.shared.text.undecodable import UNDECODABLE

MAX_NOTES: Final = 200
MAX_WALKED_BYTES: Final = 1024 * 1024
"""Twice the goal's largest payload; to walk a hostile one of so many bytes takes half a second."""
MAX_FIPS: Final = 20_000
"""More are refused before anything else is looked at, whatever is set as `max_blocks`."""
MAX_SHOWN: Final = 300

_DECODER: Final = msgspec.json.Decoder(Report)
_CANONICAL: Final = msgspec.json.Encoder()
_REQUEST_CODES: Final = {str(code): 1 << place for place, code in enumerate(RequestType)}
_NOTIFICATION_CODES: Final = {str(code): 1 << place for place, code in enumerate(NotificationType)}
_FETCH: Final = RequestType.FI_FETCH.value
_FI: Final = NotificationType.FI.value


class CheckedReport(ReportFacts, frozen=True, kw_only=True):
    """A valid payload with its blocks."""

    report: Report


class ReportRefused(Refusal, frozen=True):
    """An invalid payload: its first 200 errors in document order.

    `total` counts on to 1,000 and then stops: it is a lower bound.
    """

    kind = RefusalKind.INVALID
    findings: tuple[Finding, ...]
    total: int

    @property
    def sentence(self) -> str:
        """Returns the first finding, and how many there are."""
        more = f" ({self.total} findings in all)" if self.total > 1 else ""
        return self.findings[0].sentence() + more


_WALKED: Final = f"payloads of up to {MAX_WALKED_BYTES} bytes have all their errors named"
_NOT_NAMED: Final = ReportRefused(
    (
        Finding(
            "$",
            "holds an unknown type, numbers that contradict each other, a FIP, type or member"
            " twice, or an escaped quotation mark",
            _WALKED,
        ),
    ),
    1,
)


def check_report(body: bytes, now: datetime) -> CheckedReport | ReportRefused:
    """Validates the JSON text of one payload; finds every error at once.

    Of a text of more than 1 MiB that is not built as the specification says, only the first;
    there, an escaped quotation mark is no valid spelling either.
    """
    try:
        report = _DECODER.decode(body)
    except UNDECODABLE as error:
        meant = as_meant(body)
        if meant != body:
            return check_report(meant, now)
        if len(body) > MAX_WALKED_BYTES:
            return _first_error(error, _WALKED)
        # Nothing is known that only one of the two readers refuses.
        return _explained(body, now) or _first_error(error)
    if len(report.fips) > MAX_FIPS:
        return _too_many_fips(len(report.fips), MAX_FIPS)
    if not (_numbers_hold(report) and _no_member_twice(body, report)):
        if len(body) > MAX_WALKED_BYTES:
            return _NOT_NAMED
        # An escaped quotation mark also leads here; such a payload may still be valid.
        refused = _explained(body, now)
        if refused is not None:
            return refused
    return _checked(report, now)


def _checked(report: Report, now: datetime) -> CheckedReport | ReportRefused:
    start = parse_utc(report.from_date_time)
    findings = window_findings(report.from_date_time, report.to_date_time, now)
    if start is None or findings:
        return ReportRefused(tuple(findings), len(findings))
    fips: tuple[RequestFip | NotificationFip, ...] = report.fips
    return CheckedReport(
        report.aa_id,
        report.txn_id,
        tag_of(report),
        start,
        _content_hash(report, start),
        tuple(fip.fip_id for fip in fips),
        (
            *zone_notes(
                {
                    "$.fromDateTime": report.from_date_time,
                    "$.toDateTime": report.to_date_time,
                }
            ),
            *_notes(report),
        ),
        report=report,
    )


def check_at_once(body: bytes, now: datetime) -> CheckedReport | None:
    """Validates a payload if the fast decoder can; None for one that must be walked.

    A hundredth of what the walk costs, so that it may be done between two other requests.
    """
    try:
        report = _DECODER.decode(body)
    except UNDECODABLE:
        return None
    if len(report.fips) > MAX_FIPS:
        return None
    if not (_numbers_hold(report) and _no_member_twice(body, report)):
        return None
    checked = _checked(report, now)
    return checked if isinstance(checked, CheckedReport) else None


class ContentLimits(Struct, frozen=True):
    """The maximum content of one payload."""

    max_blocks: int = 5000
    max_unknown_fips: int = 1000


def check_size(report: ReportFacts, limits: ContentLimits) -> ReportRefused | None:
    """Refuses a payload with too many blocks (spec 2.5: one per FIP); names the first too many."""
    total = len(report.fip_ids)
    return _too_many_fips(total, limits.max_blocks) if total > limits.max_blocks else None


def _too_many_fips(total: int, most: int) -> ReportRefused:
    problem = f"is one block too many; the payload has {total}"
    allowed = f"at most {most} blocks in a payload"
    return ReportRefused((Finding(f"$.fips[{most}]", problem, allowed),), 1)


def unknown_fips(
    report: ReportFacts, known: Container[str], limits: ContentLimits
) -> tuple[Finding, ...] | ReportRefused:
    """Returns notes on FIPs outside the registry; so many are accepted."""
    unknown = [
        f"$.fips[{place}].fipId"
        for place, fip_id in enumerate(report.fip_ids)
        if fip_id not in known
    ]
    too_many = unknown[limits.max_unknown_fips :]
    if too_many:
        allowed = f"at most {limits.max_unknown_fips} FIPs that are not in the registry"
        errors = [Finding(path, "is not in the registry", allowed) for path in too_many[:MAX_NOTES]]
        return ReportRefused(tuple(errors), len(too_many))
    kept = "is not in the registry; the block is kept"
    notes = (Finding(path, kept, severity=Severity.NOTE) for path in unknown[:MAX_NOTES])
    return (*notes, *_more(len(unknown) - MAX_NOTES, "FIPs are not in the registry"))


def _more(number: int, what: str) -> tuple[Finding, ...]:
    """Returns the note that says how many more there are than were named; none for none."""
    if number <= 0:
        return ()
    return (Finding("$.fips", f"has more like these: {number} {what}", severity=Severity.NOTE),)


def _first_error(error: Exception, allowed: str = "") -> ReportRefused:
    """Returns the decoder's message, which may repeat a member's name of any length."""
    shown = str(error)[:MAX_SHOWN].encode("unicode_escape").decode()
    return ReportRefused((Finding("$", f"cannot be read: {shown}", allowed),), 1)


def _explained(body: bytes, now: datetime) -> ReportRefused | None:
    value, unreadable = read_json(body)
    if unreadable is not None:
        return ReportRefused((unreadable,), 1)
    errors = explain(value, now)
    return ReportRefused(tuple(errors.findings), errors.total) if errors.total else None


def _numbers_hold(report: Report) -> bool:
    fips: tuple[RequestFip | NotificationFip, ...] = report.fips
    if len({fip.fip_id for fip in fips}) != len(fips):
        return False
    if isinstance(report, RequestMetrics):
        return _request_numbers_hold(report)
    return _notification_numbers_hold(report)


def _request_numbers_hold(report: RequestMetrics) -> bool:
    codes, timings, fetch, unset = _REQUEST_CODES, TIMING_CODES, _FETCH, UNSET
    for fip in report.fips:
        seen = 0
        for block in fip.metrics:
            code = block.type
            bit = codes.get(code)
            if bit is None or seen & bit:
                return False
            seen |= bit
            counts = block.counts
            p50, p95, p99, p100 = block.pxx
            if 2 * counts[0] < sum(counts) or not p50 <= p95 <= p99 <= p100:
                return False
            if (block.sum_of_size_of_data_packets is unset) is (code == fetch):
                return False
            # FI requests that ended so: both the same; the rest is then 0, or the total fell short.
            if code in timings and counts[1] != counts[0]:
                return False
    return True


def _notification_numbers_hold(report: NotificationMetrics) -> bool:
    for fip in report.fips:
        seen = 0
        for block in fip.metrics:
            bit = _NOTIFICATION_CODES.get(block.type)
            if bit is None or seen & bit:
                return False
            seen |= bit
            if 2 * block.counts[0] < sum(block.counts):
                return False
            if (block.status is UNSET) is (block.type == _FI):
                return False
    return True


def _no_member_twice(body: bytes, report: Report) -> bool:
    """Counts the quotation marks: a repeated member would add some.

    The decoder keeps the last of two equal members and reports nothing.
    """
    texts = 16 + 3 * len(report.fips)  # nine names and seven texts at the root
    if isinstance(report, RequestMetrics):
        for fip in report.fips:
            texts += 4 * len(fip.metrics)
            texts += 2 * sum(
                block.sum_of_size_of_data_packets is not UNSET for block in fip.metrics
            )
    else:
        for received in report.fips:
            texts += 3 * len(received.metrics)
            texts += sum(block.status is not UNSET for block in received.metrics)
    return body.count(b'"') == 2 * texts


def _content_hash(report: Report, start: datetime) -> bytes:
    fips: tuple[RequestFip | NotificationFip, ...] = report.fips
    in_order = [
        (fip.fip_id, _by_type(fip.metrics)) for fip in sorted(fips, key=lambda fip: fip.fip_id)
    ]
    content = (
        tag_of(report).value,
        report.aa_id,
        int(start.timestamp()),
        report.agent_version,
        report.json_version,
        in_order,
    )
    return hashlib.sha256(_CANONICAL.encode(content)).digest()


def _by_type(blocks: tuple[Block, ...]) -> list[Block]:
    return sorted(blocks, key=lambda block: block.type)


def _notes(report: Report) -> tuple[Finding, ...]:
    fips: tuple[RequestFip | NotificationFip, ...] = report.fips
    notes: list[Finding] = []
    total = 0
    for at, fip in enumerate(fips):
        blocks: tuple[Block, ...] = fip.metrics
        for place, block in enumerate(blocks):
            found = _notes_of_block(block)
            total += len(found)
            if found and len(notes) < MAX_NOTES:
                path = f"$.fips[{at}].metrics[{place}]"
                notes += (
                    Finding(f"{path}{below}", problem, allowed, severity=Severity.NOTE)
                    for below, problem, allowed in found
                )
    return (*notes[:MAX_NOTES], *_more(total - MAX_NOTES, "blocks"))


def _notes_of_block(block: Block) -> list[tuple[str, str, str]]:
    """Returns a place below the block, a problem and what is right, for each oddity."""
    found = []
    if not (block.counts[0] or _intermediate(block)):
        found.append(("", "reports no traffic", "a type without traffic is left out"))
    if isinstance(block, RequestBlock):
        if _is_beyond(block):
            problem = f"is beyond {MAX_SIZE_DIGITS} digits and counts as the largest of these"
            found.append((".sumOfSizeOfDataPackets", problem, ""))
    elif block.status is not UNSET:
        problem = _beyond_total(block.status, block.counts[0])
        if problem:
            found.append((".status", problem, _ONE_EACH))
    return found


_ONE_EACH: Final = (
    "each final notification is one of position 1; it has one outcome, and each state once at most"
)


def _beyond_total(status: Sequence[int], total: int) -> str:
    """Returns what contradicts the number of final notifications (spec 2.6); empty for nothing."""
    ended = status[StatusPosition.SUCCEEDED] + status[StatusPosition.FAILED]
    if ended > total:
        return f"has {ended} outcomes (positions 1 and 2) of {total} final notifications"
    for place in range(StatusPosition.READY, StatusPosition.PENDING):
        if status[place] > total:
            return f"has {status[place]} as {STATUS_NAMES[place]} of {total} final notifications"
    return ""


def _intermediate(block: Block) -> int:
    """Returns the notifications that are not final, which position 1 of `counts` leaves out."""
    if isinstance(block, RequestBlock) or block.status is UNSET:
        return 0
    return block.status[StatusPosition.PENDING]


def _is_beyond(block: RequestBlock) -> bool:
    size = block.sum_of_size_of_data_packets
    return size is not UNSET and len(size) > MAX_SIZE_DIGITS
