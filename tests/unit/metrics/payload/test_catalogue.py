"""The names, codes and positions of the specification, and which call is counted where."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.support.metrics.metrics_payloads import as_value, notification_metrics, request_metrics

from mudra.metrics.payload.catalogue import (
    NOTIFICATION_COUNT_NAMES,
    REQUEST_CALLS,
    REQUEST_COUNT_NAMES,
    STATUS_NAMES,
    TIMINGS,
    TYPE_OF_API,
    NotificationType,
    Position,
    RequestType,
    StatusPosition,
    notification_type_of,
    position_of_status,
    request_type_of,
    window_start,
)
from mudra.metrics.payload.report import encode_report, tag_of


def test_every_position_has_its_name_in_both_payloads():
    assert len(Position) == len(REQUEST_COUNT_NAMES) == len(NOTIFICATION_COUNT_NAMES) == 15
    assert REQUEST_COUNT_NAMES[Position.CONFLICT_409] == "409IdempotencyErrorReqRecdCnt"
    assert NOTIFICATION_COUNT_NAMES[Position.PRECONDITION_412] == "412PreConditionFailedSentCnt"
    assert len(StatusPosition) == len(STATUS_NAMES) == 7
    assert STATUS_NAMES[StatusPosition.PENDING] == "intermediateRecdCnt"


def test_the_place_of_a_type_in_stored_sums_never_changes():
    """A place that moves makes stored sums another type's; a new type takes the next free one."""
    assert {one.api: one.place for one in TYPE_OF_API.values()} == {
        "adisc": 1,
        "alink": 2,
        "adlink": 3,
        "alinkv": 4,
        "cns": 5,
        "cnot": 6,
        "fireq": 7,
        "sfireqnot": 8,
        "ffireqnot": 9,
        "fif": 10,
        "hbt": 11,
        "finot": 12,
        "alnot": 13,
        "cnot-received": 14,
    }


def test_positions_and_names_tell_the_same_status():
    for names in (REQUEST_COUNT_NAMES, NOTIFICATION_COUNT_NAMES):
        for place in Position:
            digits = place.name.rpartition("_")[2]
            if digits.isdigit():
                assert names[place].startswith(digits)


def test_every_type_but_the_two_timings_counts_a_call():
    assert set(REQUEST_CALLS) == set(RequestType) - TIMINGS


def test_each_type_of_both_payloads_has_a_code_of_its_own_in_incidents():
    assert [*TYPE_OF_API.values()] == [*RequestType, *NotificationType]


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("POST", "/v2/Accounts/discover", RequestType.ACCOUNT_DISCOVERY),
        ("post", "/accounts/link", RequestType.ACCOUNT_LINK),
        ("POST", "/aa/v2/Accounts/link/verify/", RequestType.ACCOUNT_LINK_VERIFY),
        ("POST", "/Accounts/delink", RequestType.ACCOUNT_DELINK),
        ("POST", "/Consent", RequestType.CONSENT),
        ("POST", "/v2/Consent/Notification", RequestType.CONSENT_NOTIFICATION),
        ("POST", "https://fip.example/v2/FI/fetch?x=1", RequestType.FI_FETCH),
        ("POST", "/FI/Fetch", RequestType.FI_FETCH),
        ("POST", "/FI/request", RequestType.FI_REQUEST),
        ("GET", "/Heartbeat", RequestType.HEARTBEAT),
        ("POST", "/Heartbeat", None),
        ("GET", "/Consent", None),
        ("POST", "/Consent/handle", None),
        ("POST", "", None),
    ],
)
def test_a_call_is_counted_by_the_end_of_its_path(method, path, expected):
    assert request_type_of(method, path) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/v2/FI/Notification", NotificationType.FI),
        ("/Account/link/Notification", NotificationType.ACCOUNT_LINK),
        ("/consent/notification", NotificationType.CONSENT),
        ("/Notification", None),
    ],
)
def test_a_notification_is_counted_by_the_end_of_its_path(path, expected):
    assert notification_type_of("POST", path) is expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, Position.OK_200),
        (404, Position.NOT_FOUND_404),
        (409, Position.CONFLICT_409),
        (410, Position.OTHER_4XX),
        (504, Position.GATEWAY_TIMEOUT_504),
        (501, Position.OTHER_5XX),
        (599, Position.OTHER_5XX),
        (204, None),
        (302, None),
        (600, None),
    ],
)
def test_an_answer_is_counted_at_the_position_of_its_status(status, expected):
    assert position_of_status(status) is expected


def test_a_window_begins_on_ten_minutes_of_utc_whatever_the_zone():
    nepal = timezone(timedelta(hours=5, minutes=45))

    assert window_start(datetime(2026, 3, 4, 16, 14, 59, 999, nepal)) == datetime(
        2026, 3, 4, 10, 20, tzinfo=UTC
    )


@pytest.mark.parametrize("payload", [request_metrics(), notification_metrics()])
def test_a_payload_is_written_with_the_exact_names(payload):
    value = as_value(payload)

    assert set(value) == {
        "agentVersion",
        "jsonVersion",
        "tag",
        "txnId",
        "fromDateTime",
        "toDateTime",
        "duration",
        "aaId",
        "fips",
    }
    assert value["tag"] == tag_of(payload)
    assert encode_report(payload).startswith(b'{"tag":"')
    assert set(value["fips"][0]) == {"fipId", "metrics"}


def test_sizes_stand_on_fif_only_and_statuses_on_finot_only():
    requests = as_value(request_metrics(fips=1))["fips"][0]["metrics"]
    notifications = as_value(notification_metrics(fips=1))["fips"][0]["metrics"]

    assert [b["type"] for b in requests if "sumOfSizeOfDataPackets" in b] == ["fif"]
    assert [b["type"] for b in notifications if "status" in b] == ["finot"]
