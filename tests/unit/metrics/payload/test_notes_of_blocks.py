"""What the receipt of a right payload notes about its blocks."""

import msgspec
import pytest
from tests.support.metrics.metrics_payloads import (
    SOON_AFTER,
    as_value,
    notification_metrics,
    request_metrics,
)

from mudra.metrics.payload.validation import CheckedReport, check_at_once
from mudra.shared.finding import Severity


def test_a_type_sent_with_zeros_is_taken_with_a_note():
    value = as_value(request_metrics())
    value["fips"][1]["metrics"][2] |= {"counts": [0] * 15, "pxx": [0] * 4}

    checked = check_at_once(msgspec.json.encode(value), SOON_AFTER)

    assert isinstance(checked, CheckedReport)
    (note,) = checked.notes
    assert (note.path, note.severity) == ("$.fips[1].metrics[2]", Severity.NOTE)


def test_a_type_without_traffic_is_noted_and_200_of_them_at_most() -> None:
    value = as_value(request_metrics(fips=30))
    for fip in value["fips"]:
        for block in fip["metrics"]:
            block["counts"] = [0] * 15
            block["pxx"] = [7] * 4

    checked = check_at_once(msgspec.json.encode(value), SOON_AFTER)

    assert isinstance(checked, CheckedReport)
    assert len(checked.notes) == 201
    value["fips"][0]["metrics"][0]["counts"][0] = 3
    assert check_at_once(msgspec.json.encode(value), SOON_AFTER).notes[0].path.endswith("[1]")
    assert checked.notes[0].sentence() == (
        "$.fips[0].metrics[0] reports no traffic; allowed: a type without traffic is left out"
    )


@pytest.mark.parametrize(
    ("status", "problem"),
    [
        ([6, 0, 6, 0, 0, 0, 0], "has 6 outcomes (positions 1 and 2) of 5 final notifications"),
        ([4, 2, 0, 0, 0, 0, 0], "has 6 outcomes (positions 1 and 2) of 5 final notifications"),
        ([0, 0, 9, 0, 0, 0, 0], "has 9 as readyRecdCnt of 5 final notifications"),
        ([3, 2, 3, 2, 0, 6, 0], "has 6 as timeoutRecdCnt of 5 final notifications"),
        ([3, 2, 5, 5, 5, 5, 900], ""),
        ([0, 0, 0, 5, 0, 0, 0], ""),  # refused by the AA: no outcome
    ],
)
def test_statuses_beyond_the_final_notifications_are_noted(status, problem) -> None:
    value = as_value(notification_metrics())
    place, block = next(
        (place, one)
        for place, one in enumerate(value["fips"][0]["metrics"])
        if one["type"] == "finot"
    )
    block |= {"counts": [5, 4, 1, *[0] * 12], "status": status}

    checked = check_at_once(msgspec.json.encode(value), SOON_AFTER)

    assert isinstance(checked, CheckedReport)
    path = f"$.fips[0].metrics[{place}].status"
    assert [one.problem for one in checked.notes if one.path == path] == [problem][: bool(problem)]


@pytest.mark.parametrize(
    ("pending", "noted"), [(0, ["$.fips[0].metrics[0]", "$.fips[0].metrics[1]"]), (1, [])]
)
def test_notifications_without_a_final_one_are_noted_unless_some_are_pending(
    pending: int, noted: list[str]
) -> None:
    value = as_value(notification_metrics(fips=1))
    final, other = value["fips"][0]["metrics"][:2]
    final |= {"counts": [0] * 15, "status": [*[0] * 6, pending]}
    other |= {"counts": [1 if pending else 0, *[0] * 14]}
    value["fips"][0]["metrics"] = [final, other]

    checked = check_at_once(msgspec.json.encode(value), SOON_AFTER)

    assert isinstance(checked, CheckedReport)
    assert [one.path for one in checked.notes] == noted
