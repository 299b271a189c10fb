"""What a payload must be to be taken, and what its sender hears when it is not."""

import json
import random
import re
from datetime import timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.metrics.metrics_payloads import (
    SOON_AFTER,
    WINDOW_START,
    as_value,
    notification_metrics,
    request_metrics,
)
from tests.support.metrics.totals import together
from tests.unit.metrics.payload.wrong_payloads import Wrong, wrong_payloads

from mudra.metrics.payload.report import encode_report
from mudra.metrics.payload.validation import (
    CheckedReport,
    ContentLimits,
    ReportRefused,
    check_report,
    unknown_fips,
)
from mudra.shared.finding import Severity

MAX_COUNTED = 1_000
MAX_FINDINGS = 200

WRONG = list(wrong_payloads())


def taken(body: bytes | dict[str, object], now=SOON_AFTER) -> CheckedReport:
    checked = check_report(body if isinstance(body, bytes) else json.dumps(body).encode(), now)
    assert isinstance(checked, CheckedReport), checked.findings[:3]
    return checked


def refused(body: bytes | dict[str, object], now=SOON_AFTER) -> ReportRefused:
    checked = check_report(body if isinstance(body, bytes) else json.dumps(body).encode(), now)
    assert isinstance(checked, ReportRefused)
    return checked


def test_the_table_holds_at_least_200_wrong_payloads():
    assert len({wrong.name for wrong in WRONG}) == len(WRONG) >= 200


@pytest.mark.parametrize("wrong", WRONG, ids=[wrong.name.replace("\\", "/") for wrong in WRONG])
def test_a_wrong_payload_is_refused_with_the_place_of_its_fault(wrong: Wrong):
    findings = refused(wrong.payload).findings

    here = [finding.sentence() for finding in findings if finding.path == wrong.path]
    assert any(re.search(wrong.words, sentence) for sentence in here), findings


def test_all_faults_are_found_at_once():
    value = as_value(request_metrics())
    value["duration"] = 60
    value["fips"][0]["metrics"][0]["counts"][6] = "five"
    value["fips"][2]["metrics"][3]["pxx"] = [4, 3, 2, 1]
    del value["aaId"]

    paths = [finding.path for finding in refused(value).findings]

    assert paths == [
        "$.aaId",
        "$.duration",
        "$.fips[0].metrics[0].counts[6]",
        "$.fips[2].metrics[3].pxx[1]",
        "$.fips[2].metrics[3].pxx[2]",
        "$.fips[2].metrics[3].pxx[3]",
    ]


def test_a_finding_names_the_position_as_the_specification_does():
    value = as_value(request_metrics())
    value["fips"][2]["metrics"][0]["counts"][6] = -4

    (finding,) = refused(value).findings

    assert finding.sentence() == (
        "$.fips[2].metrics[0].counts[6] (409IdempotencyErrorReqRecdCnt) is -4; "
        "allowed: 0 to 9007199254740991"
    )


@pytest.mark.parametrize(
    ("path", "sent", "meant"),
    [
        ("$", "txnid", "txnId"),
        ("$", "fromdatetime", "fromDateTime"),
        ("$.fips[0]", "fipid", "fipId"),
        ("$.fips[0].metrics[0]", "count", "counts"),
    ],
)
def test_an_unknown_member_is_answered_with_the_name_probably_meant(path, sent, meant):
    value = as_value(request_metrics())
    holder = {
        "$": value,
        "$.fips[0]": value["fips"][0],
        "$.fips[0].metrics[0]": value["fips"][0]["metrics"][0],
    }[path]
    holder[sent] = holder.pop(meant)

    nearest = {finding.path: finding.nearest for finding in refused(value).findings}

    assert nearest[f"{path}.{sent}"] == meant


def test_a_mistyped_tag_does_not_hide_the_faults_behind_it():
    value = as_value(notification_metrics())
    value["tag"] = "not-fipmetrics-aa"
    value["fips"][0]["metrics"][0]["status"][2] = -1

    findings = refused(value).findings

    assert [(finding.path, finding.nearest) for finding in findings] == [
        ("$.tag", "not-fipMetrics-aa"),
        ("$.fips[0].metrics[0].status[2]", ""),
    ]


def test_only_the_first_200_faults_are_reported_and_all_are_counted():
    value = as_value(request_metrics(fips=30))
    blocks = [block for fip in value["fips"] for block in fip["metrics"]]
    for block in blocks:
        block["pxx"] = [4, 3, 2, 1]

    answer = refused(value)

    assert (len(answer.findings), answer.total) == (MAX_FINDINGS, len(blocks) * 3)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"[]", "must be an object, not an array"),
        (b"null", "must be an object, not null"),
        (b'"x"', "must be an object, not a string"),
        pytest.param(b"\xff\xfe{\x00}\x00", "is not UTF-8 at byte 0", id="UTF-16"),
        pytest.param(b"\xef\xbb\xbf{}", "is not JSON", id="BOM"),
        pytest.param(b'{"a": \x01}', "is not JSON", id="a control"),
        (b"{} {}", "is not JSON"),
        (b"{'tag': 1}", "is not JSON"),
        (b"[" * 100_000, "nested too deep"),
        (b'{"fips":' * 50_000, "nested too deep"),
    ],
)
def test_what_is_no_json_object_is_refused_with_the_reason(body, words):
    (finding,) = refused(body).findings

    assert finding.path == "$"
    assert words in finding.sentence()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "1E2", "9" * 5000])
def test_numbers_that_no_one_can_have_counted_are_refused(number):
    body = encode_report(request_metrics()).replace(
        b'"duration":600', b'"duration":%s' % number.encode()
    )

    assert refused(body).findings[0].path == "$.duration"


@pytest.mark.parametrize(
    ("place", "member"),
    [
        ("$.txnId", b'"txnId":"again",'),
        pytest.param("$.aaId", b'"aa\\u0049d":"again",', id="escaped"),
        ("$.duration", b'"duration":600,'),
    ],
)
def test_a_member_that_occurs_twice_is_refused(place, member):
    body = encode_report(request_metrics()).replace(b'"txnId"', member + b'"txnId"', 1)

    assert [finding.path for finding in refused(body).findings] == [place]


def test_a_count_array_that_occurs_twice_in_one_block_is_refused():
    body = encode_report(notification_metrics()).replace(b'"counts"', b'"counts":[],"counts"', 1)

    assert [finding.path for finding in refused(body).findings] == ["$.fips[0].metrics[0].counts"]


def test_an_escaped_character_in_a_right_payload_is_no_fault():
    body = encode_report(request_metrics()).replace(b'"aaId"', b'"aa\\u0049d"')

    assert taken(body).report == request_metrics()


@pytest.mark.parametrize("payload", [request_metrics(), notification_metrics()])
def test_a_right_payload_is_taken_as_it_is(payload):
    checked = taken(encode_report(payload))

    assert checked.report == payload
    assert (checked.aa_id, checked.txn_id) == (payload.aa_id, payload.txn_id)
    assert checked.window == WINDOW_START
    assert checked.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-04T10:20:00.000Z",
        "2026-03-04T10:20:00.000000000Z",
        "2026-03-04T10:20:00+00:00",
        "2026-03-04T10:20:00+0000",
        "2026-03-04T10:20:00-00:00",
    ],
)
def test_every_way_to_write_a_time_in_utc_is_read(text):
    value = as_value(request_metrics()) | {"fromDateTime": text}

    assert taken(value).window == WINDOW_START


def test_a_size_beyond_any_machine_integer_is_kept_exactly():
    value = as_value(request_metrics(fips=1))
    block = value["fips"][0]["metrics"][9]
    block["sumOfSizeOfDataPackets"] = "9" * 4000

    checked = taken(value)

    assert checked.report.fips[0].metrics[9].sum_of_size_of_data_packets == "9" * 4000
    assert checked.notes == ()


def test_a_size_of_any_length_is_taken_and_counts_as_the_largest_that_can_be_summed():
    value = as_value(request_metrics(fips=1))
    block = value["fips"][0]["metrics"][9]
    block["sumOfSizeOfDataPackets"] = "1" + "0" * 1_000_000

    checked = taken(value)

    (note,) = checked.notes
    assert (note.severity, note.path[-22:]) == (Severity.NOTE, "sumOfSizeOfDataPackets")
    assert note.sentence().endswith(
        " is beyond 4000 digits and counts as the largest of these"  # no right one is named
    )
    blocks = [one for fip in checked.report.fips for one in fip.metrics if one.type == "fif"]
    (sums,) = together(*blocks).rows()
    assert sums.data_bytes == 10**4000 - 1


def test_a_window_without_any_traffic_is_taken():
    value = as_value(request_metrics()) | {"fips": []}

    assert taken(value).report.fips == ()


def test_a_total_may_exceed_the_answers():
    value = as_value(request_metrics(fips=1))
    value["fips"][0]["metrics"][0]["counts"] = [2**53 - 1, *[0] * 14]

    taken(value)


def test_a_fip_that_the_registry_does_not_know_is_noted():
    (note,) = unknown_fips(
        taken(encode_report(request_metrics(fips=3))), {"BANK-000", "BANK-002"}, ContentLimits()
    )

    assert (note.path, note.severity) == ("$.fips[1].fipId", Severity.NOTE)


@pytest.mark.parametrize(
    ("now", "accepted"),
    [
        (WINDOW_START + timedelta(seconds=539.999), False),
        (WINDOW_START + timedelta(seconds=540), True),
        (WINDOW_START + timedelta(days=7, seconds=600), True),
        (WINDOW_START + timedelta(days=7, seconds=600.001), False),
    ],
)
def test_a_window_is_taken_from_60_seconds_before_its_end_until_7_days_after(now, accepted):
    answer = check_report(encode_report(request_metrics()), now)

    assert isinstance(answer, CheckedReport) is accepted
    assert accepted or answer.total == len(answer.findings) == 1


def test_the_content_is_the_same_in_any_order_and_under_any_txn_id():
    first = taken(encode_report(request_metrics(txn_id="one"))).content_hash
    value = as_value(request_metrics(txn_id="two"))
    value["fips"].reverse()
    for fip in value["fips"]:
        random.Random(3).shuffle(fip["metrics"])
    value = dict(reversed(value.items())) | {"fromDateTime": "2026-03-04T10:20:00.000Z"}

    assert taken(value).content_hash == first


@pytest.mark.parametrize("place", ["counts", "pxx"])
def test_one_other_number_is_other_content(place):
    value = as_value(request_metrics())
    before = taken(value).content_hash
    value["fips"][1]["metrics"][1][place][-1] += 1
    value["fips"][1]["metrics"][1]["counts"][0] += 1

    assert taken(value).content_hash != before


@pytest.mark.parametrize(
    "fips",
    [
        b"[%s]" % b",".join([b"{}"] * 300_000),
        b"[%s]" % b",".join([b"7"] * 300_000),
        b"[{%s}]" % b",".join(b'"a%d":1' % n for n in range(100_000)),
        b"[{%s}]" % b",".join([b'"fipID":1'] * 100_000),
    ],
    ids=["objects", "numbers", "unknown members", "repeated members"],
)
def test_a_hostile_payload_is_refused_before_it_holds_up_others(fips):
    body = encode_report(request_metrics(fips=0)).replace(b'"fips":[]', b'"fips":' + fips)

    answer = refused(body)

    assert answer.total <= 2 * MAX_COUNTED
    assert len(answer.findings) <= MAX_FINDINGS


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.data())
def test_a_damaged_payload_is_refused_with_findings_or_was_still_right(data):
    """The two readers agree: whatever the fast one refuses, the slow one can explain."""
    value = as_value(request_metrics(fips=1))
    holder, step = value, data.draw(st.sampled_from(sorted(value)))
    while isinstance(holder[step], list | dict) and holder[step] and data.draw(st.booleans()):
        holder = holder[step]
        step = data.draw(
            st.sampled_from(range(len(holder)) if isinstance(holder, list) else sorted(holder))
        )
    holder[step] = data.draw(JSON_VALUES)

    answer = check_report(json.dumps(value).encode(), SOON_AFTER)

    if isinstance(answer, ReportRefused):
        assert answer.total >= 1
        assert not any("cannot be read" in finding.problem for finding in answer.findings)
    else:
        assert as_value(answer.report) == value


@given(st.binary(max_size=200))
def test_no_bytes_whatever_bring_the_check_down(body):
    assert isinstance(check_report(body, SOON_AFTER), ReportRefused)


def test_findings_travel_as_json():
    value = as_value(request_metrics()) | {"we\nird \ud800": 1}

    text = msgspec.json.encode(refused(value).findings).decode()

    assert '$[\\"we\\\\nird \\\\ud800\\"]' in text


@pytest.mark.parametrize(
    "spelling",
    ["2026-03-04T10:20Z[UTC]", "2026-03-04t10:20:00z", "2026-03-04 10:20:00.000+0000", "2026-03-04T15:50+0530"],
)  # fmt: skip  # each names the start of the window
def test_each_spelling_of_a_window_is_that_window(spelling: str):
    """Java leaves out seconds that are zero."""
    value = as_value(request_metrics()) | {"fromDateTime": spelling}

    report = taken(value)

    assert report.content_hash == taken(as_value(request_metrics())).content_hash
    in_another_zone = [one.path for one in report.notes if "another zone" in one.problem]
    assert in_another_zone == (["$.fromDateTime"] if "5:50" in spelling else [])


@pytest.mark.parametrize("make", [request_metrics, notification_metrics])
def test_what_default_serializers_write_for_whole_and_for_not_set_is_read(make):
    """5.0 is 5, and an optional member that is null is not there."""
    plain = as_value(make())
    written = as_value(make()) | {"duration": 600.0}
    for fip in written["fips"]:
        for block in fip["metrics"]:
            block["counts"] = [float(count) for count in block["counts"]]
            block.setdefault("sumOfSizeOfDataPackets" if "pxx" in block else "status")

    assert taken(written).content_hash == taken(plain).content_hash
