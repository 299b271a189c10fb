"""What an AA reads about its push, word for word, and the exact ends of each limit."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from tests.support.metrics.metrics_payloads import as_value, notification_metrics, request_metrics

from mudra.metrics.payload.catalogue import Tag
from mudra.metrics.payload.ingest_rule import (
    Accept,
    Known,
    PushKey,
    Receipt,
    Replace,
    TxnIdReused,
    WindowKey,
    decide,
    keys_of,
)
from mudra.metrics.payload.plausibility import Doubt, ReportedVolume, doubt_time, doubt_volume
from mudra.metrics.payload.push_limits import TooManyPushes, of_all, upload_places
from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.report_facts import ReportFacts
from mudra.metrics.payload.validation import (
    CheckedReport,
    ContentLimits,
    ReportRefused,
    check_at_once,
    check_report,
    check_size,
    unknown_fips,
)
from mudra.metrics.payload.window_rule import parse_utc, window_findings
from mudra.shared.finding import Finding, Severity

LONGEST_MS = 604_800_000
SMALL = 20_000
MAX_FIPS = 20_000
MAX_WALKED_BYTES = 1024 * 1024

START = datetime(2026, 3, 4, 10, 20, tzinfo=UTC)
END = START + timedelta(minutes=10)
SOON_AFTER = END + timedelta(seconds=30)
FORM = "ISO 8601 in UTC, such as 2026-01-31T10:20:00Z"


def facts(*fip_ids: str, **changes: object) -> ReportFacts:
    whole = ReportFacts("AA-1", "txn", Tag.REQUESTS, START, b"hash", fip_ids, (Finding("$", "n"),))
    return msgspec.structs.replace(whole, **changes)


def test_the_sentence_of_a_refusal_counts_what_follows() -> None:
    first, second = Finding("$.a", "is wrong"), Finding("$.b", "is wrong")

    assert ReportRefused((first,), 1).sentence == "$.a is wrong"
    assert ReportRefused((first, second), 2).sentence == "$.a is wrong (2 findings in all)"


def test_so_many_fips_are_taken_and_one_more_names_the_first_too_many() -> None:
    limits = ContentLimits(max_blocks=2)

    assert (ContentLimits().max_blocks, ContentLimits().max_unknown_fips) == (5000, 1000)
    assert check_size(facts("A", "B"), limits) is None
    too_many = Finding(
        "$.fips[2]", "is one block too many; the payload has 3", "at most 2 blocks in a payload"
    )
    assert check_size(facts("A", "B", "C"), limits) == ReportRefused((too_many,), 1)


@pytest.mark.parametrize("read", [check_report, check_at_once])
def test_the_most_fips_of_any_payload_are_bounded(read) -> None:
    value = as_value(request_metrics(fips=0))
    value["fips"] = [{"fipId": f"F-{place}", "metrics": []} for place in range(MAX_FIPS + 1)]
    body = msgspec.json.encode(value)
    del value["fips"][-1]

    assert isinstance(read(msgspec.json.encode(value), SOON_AFTER), CheckedReport)
    refused = read(body, SOON_AFTER)
    if read is check_report:
        assert refused.sentence == (
            "$.fips[20000] is one block too many; the payload has 20001; "
            "allowed: at most 20000 blocks in a payload"
        )
    else:
        assert refused is None


def test_notes_that_are_not_named_one_by_one_are_counted() -> None:
    unknown = unknown_fips(facts(*(f"F{n}" for n in range(260))), set(), ContentLimits())
    silent = as_value(request_metrics(fips=250))
    for fip in silent["fips"]:
        fip["metrics"] = [{"type": "adisc", "counts": [0] * 15, "pxx": [0] * 4}]

    checked = check_report(msgspec.json.encode(silent), SOON_AFTER)
    of_one = unknown_fips(facts(*(f"F{n}" for n in range(201))), set(), ContentLimits())
    of_none = unknown_fips(facts(*(f"F{n}" for n in range(200))), set(), ContentLimits())

    assert isinstance(unknown, tuple)
    assert isinstance(checked, CheckedReport)
    assert (len(unknown), unknown[-1].path) == (201, "$.fips")
    assert unknown[-1] == Finding(
        "$.fips",
        "has more like these: 60 FIPs are not in the registry",
        severity=Severity.NOTE,
    )
    assert of_one[-1].problem == "has more like these: 1 FIPs are not in the registry"
    assert (len(of_none), of_none[-1].path) == (200, "$.fips[199].fipId")
    assert (len(checked.notes), checked.notes[-1].problem) == (
        201,
        "has more like these: 50 blocks",
    )


def test_unknown_fips_are_noted_up_to_a_limit() -> None:
    limits = ContentLimits(max_unknown_fips=1)
    kept = "is not in the registry; the block is kept"

    assert unknown_fips(facts("A", "B"), {"A", "B"}, limits) == ()
    assert unknown_fips(facts("A", "B"), {"A"}, limits) == (
        Finding("$.fips[1].fipId", kept, severity=Severity.NOTE),
    )
    allowed = "at most 1 FIPs that are not in the registry"
    assert unknown_fips(facts("A", "B", "C"), {"B"}, limits) == ReportRefused(
        (Finding("$.fips[2].fipId", "is not in the registry", allowed),), 1
    )
    many = facts(*(f"F-{place}" for place in range(300)))
    noted = unknown_fips(many, (), ContentLimits())
    assert len(noted) == 201
    refused = unknown_fips(many, (), ContentLimits(max_unknown_fips=10))
    assert isinstance(refused, ReportRefused)
    assert (len(refused.findings), refused.total) == (200, 290)


@pytest.mark.parametrize("build", [request_metrics, notification_metrics])
def test_the_quick_check_takes_what_the_whole_one_takes_and_nothing_else(build) -> None:
    right = encode_report(build(fips=2))
    whole, quick = check_report(right, SOON_AFTER), check_at_once(right, SOON_AFTER)

    assert isinstance(whole, CheckedReport)
    assert quick == whole
    assert quick.tag is (Tag.REQUESTS if build is request_metrics else Tag.NOTIFICATIONS)
    twice = right.replace(b'"duration":600', b'"duration":600,"duration":600')
    other_sum = as_value(build(fips=2))
    other_sum["fips"][0]["metrics"][0]["counts"][0] = 0
    other_sum["fips"][0]["metrics"][0]["counts"][3] = 1
    for wrong in (b"{", b"\xff", twice, msgspec.json.encode(other_sum)):
        assert check_at_once(wrong, SOON_AFTER) is None
    assert check_at_once(right, END - timedelta(hours=1)) is None


def test_a_body_of_more_than_a_mebibyte_is_not_walked() -> None:
    longest = b'{"a":"' + b"x" * (MAX_WALKED_BYTES - 8) + b'"}'
    walked = check_report(longest, SOON_AFTER)
    first = check_report(longest[:-1] + b" }", SOON_AFTER)

    assert isinstance(walked, ReportRefused)
    assert walked.total > 1
    assert isinstance(first, ReportRefused)
    (finding,) = first.findings
    assert first.total == 1
    assert finding.path == "$"
    assert finding.problem.startswith("cannot be read: Object ")
    assert (
        finding.allowed == f"payloads of up to {MAX_WALKED_BYTES} bytes have all their errors named"
    )


@pytest.mark.parametrize(
    ("length", "path", "allowed"),
    [
        (MAX_WALKED_BYTES, "$.duration", "each member once"),
        (MAX_WALKED_BYTES + 1, "$", "payloads of up to 1048576 bytes have all their errors named"),
    ],
)
def test_what_a_mebibyte_has_twice_is_named_and_not_of_one_byte_more(
    length: int, path: str, allowed: str
) -> None:
    body = encode_report(request_metrics())
    twice = body.replace(b'"duration":600', b'"duration":600,"duration":600')

    refused = check_report(twice.ljust(length), SOON_AFTER)

    assert isinstance(refused, ReportRefused)
    assert [(one.path, one.allowed) for one in refused.findings] == [(path, allowed)]


def test_an_escape_is_a_spelling_like_any_other() -> None:
    """Only an escaped quotation mark is looked at twice: it counts like one of a second member."""
    body = encode_report(request_metrics())
    escaped = body.replace(b'"aaId"', b'"aa\\u0049d"')
    quoted = body.replace(b'"agentVersion":"', b'"agentVersion":"\\"')

    assert isinstance(check_at_once(escaped, SOON_AFTER), CheckedReport)
    assert check_at_once(quoted, SOON_AFTER) is None
    assert isinstance(check_report(quoted, SOON_AFTER), CheckedReport)


def test_a_payload_without_fips_is_another_one_of_requests_than_of_notifications() -> None:
    alike = [build(fips=0, txn_id="same") for build in (request_metrics, notification_metrics)]
    requests, notifications = (check_at_once(encode_report(one), SOON_AFTER) for one in alike)

    assert isinstance(requests, CheckedReport)
    assert isinstance(notifications, CheckedReport)
    assert requests.content_hash != notifications.content_hash


@pytest.mark.parametrize(
    ("text", "microsecond"),
    [
        ("2026-03-04T10:20:00Z", 0),
        ("2026-03-04T10:20:00.5Z", 500_000),
        ("2026-03-04T10:20:00.000001Z", 1),
        ("2026-03-04T10:20:00.123456Z", 123_456),
        ("2026-03-04T10:20:00.1234569Z", 123_456),
        ("2026-03-04T10:20:00.0000001Z", 1),
        ("2026-03-04T10:20:00.0000000Z", 0),
        ("2026-03-04T10:20:00.00000001+00:00", 1),
    ],
)
def test_a_time_beyond_the_microsecond_is_never_on_the_edge(text: str, microsecond: int) -> None:
    found = parse_utc(text)

    assert found is not None
    assert found.microsecond == microsecond


@pytest.mark.parametrize(
    ("start", "end", "sentences"),
    [
        ("x", None, [f"$.fromDateTime is not a time in UTC; allowed: {FORM}"]),
        (None, "x", [f"$.toDateTime is not a time in UTC; allowed: {FORM}"]),
        (None, None, []),
        (
            "2026-03-04T10:21:30Z",
            None,
            [
                (
                    "$.fromDateTime is not the start of a ten-minute window of UTC; allowed: minutes "
                    "00, 10, 20, 30, 40 or 50 and no seconds; did you mean 2026-03-04T10:20:00Z?"
                )
            ],
        ),
        (
            "2026-03-04T10:20:00Z",
            "2026-03-04T10:31:00Z",
            [
                (
                    "$.toDateTime is 660 seconds after fromDateTime; allowed: 600 seconds after it; "
                    "did you mean 2026-03-04T10:30:00Z?"
                )
            ],
        ),
        (
            "2026-03-05T10:20:00Z",
            "2026-03-05T10:30:00Z",
            [
                (
                    "$.toDateTime lies in the future: here it is 2026-03-04T10:30:30Z; allowed: "
                    "a window that has ended; check the clock of the agent's machine"
                )
            ],
        ),
        (
            "2026-02-04T10:20:00Z",
            "2026-02-04T10:30:00Z",
            [
                (
                    "$.toDateTime is more than 7 days ago: here it is 2026-03-04T10:30:30Z; allowed: "
                    "a window of the last 7 days; older ones cannot be taken any more"
                )
            ],
        ),
    ],
)
def test_a_wrong_window_is_explained(
    start: str | None, end: str | None, sentences: list[str]
) -> None:
    found = window_findings(start, end, SOON_AFTER)

    assert [finding.sentence() for finding in found] == sentences


def test_a_time_in_another_zone_is_taken_with_a_note_that_says_what_it_was_read_as() -> None:
    value = as_value(request_metrics()) | {"toDateTime": "2026-03-04T16:00:00+05:30"}

    checked = check_report(msgspec.json.encode(value), SOON_AFTER)

    assert isinstance(checked, CheckedReport)
    problem = "is in another zone, and read as UTC"
    assert checked.notes == (
        Finding("$.toDateTime", problem, FORM, "2026-03-04T10:30:00Z", Severity.NOTE),
    )


def test_a_doubt_names_what_is_claimed_and_the_most_that_is_plausible() -> None:
    assert doubt_time(LONGEST_MS + 1) == Doubt("hours for one call", 169, 168)
    assert doubt_time(LONGEST_MS + 1).note().allowed == "at most 168 hours for one call"
    doubt = doubt_volume(20_000 + 1, ReportedVolume(6, 0, 0, 0))
    assert doubt == Doubt("calls", SMALL + 1, SMALL)
    assert doubt.note() == Finding(
        "$",
        "is implausible: 20,001 calls; the report is kept and counted only "
        "when the network's operator admits it",
        "at most 20,000 calls",
        severity=Severity.NOTE,
    )


def test_a_receipt_holds_what_was_pushed() -> None:
    checked = facts("A")
    push, window = keys_of(checked)
    now = SOON_AFTER
    receipt = Receipt("r-1", window, "txn", b"hash", 1, now, checked.notes)

    assert (push, window) == (PushKey("AA-1", "txn"), WindowKey("AA-1", Tag.REQUESTS, START))
    assert decide(Known(None, None), checked, "r-1", now) == Accept(receipt)
    earlier = msgspec.structs.replace(receipt, receipt_id="r-0", content_hash=b"other", version=3)
    replaced = msgspec.structs.replace(receipt, version=4)
    assert decide(Known(None, earlier), checked, "r-1", now) == Replace(replaced, earlier)
    assert decide(Known(earlier, None), checked, "r-1", now) == TxnIdReused("AA-1", "txn", earlier)


def test_the_places_and_limits_of_a_node() -> None:
    places = vars(upload_places())
    assert (places["_free"], places["_per_key"], places["wait_s"]) == (128, 8, 15.0)
    assert of_all(12) == 36
    assert TooManyPushes(7).retry_after_s == 7


def test_a_type_that_comes_again_after_another_is_refused() -> None:
    value = as_value(notification_metrics(fips=1))
    blocks = value["fips"][0]["metrics"]
    first, second = blocks[:2]
    value["fips"][0]["metrics"] = [first, second, first]

    refused = check_report(msgspec.json.encode(value), SOON_AFTER)

    assert isinstance(refused, ReportRefused)
    assert refused.findings[0].path == "$.fips[0].metrics[2].type"
    assert check_at_once(msgspec.json.encode(value), SOON_AFTER) is None


def test_what_cannot_be_read_is_one_finding() -> None:
    refused = check_report(b"{", SOON_AFTER)

    assert isinstance(refused, ReportRefused)
    assert (len(refused.findings), refused.total) == (1, 1)
