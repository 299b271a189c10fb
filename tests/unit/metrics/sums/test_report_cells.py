"""Reports as cells and as bytes."""

from datetime import timedelta

import msgspec
import pytest
from msgspec.structs import replace
from tests.support.metrics.metrics_payloads import (
    SOON_AFTER,
    WINDOW_START,
    notification_metrics,
    request_metrics,
)

from mudra.metrics.payload.catalogue import window_number
from mudra.metrics.payload.report import Report
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums.block_bytes import decoded
from mudra.metrics.sums.cells import Names
from mudra.metrics.sums.report_cells import blocks_of, encode_report


def checked(report: Report) -> CheckedReport:
    found = check_report(msgspec.json.encode(report), SOON_AFTER + timedelta(hours=1))
    assert isinstance(found, CheckedReport), found
    return found


@pytest.mark.parametrize("made", [request_metrics, notification_metrics])
@pytest.mark.parametrize("fips", [1, 3, 300])
def test_an_encoded_report_has_each_block_once(made, fips: int):
    report = checked(made(fips))
    names = Names()

    parts = [decoded(numbers, b"", names, 1, 7) for _, numbers in encode_report(report)]

    found = [(fip_id, block) for part in parts for fip_id, block in blocks_of(part, names.ids)]
    sent = [(fip.fip_id, block) for fip in report.report.fips for block in fip.metrics]
    assert sorted(found, key=str) == sorted(sent, key=str)
    assert {at for part in parts for at in part.keys["at"].tolist()} == {7}


def test_a_report_without_blocks_has_no_bytes():
    assert encode_report(checked(request_metrics(0))) == []


def test_equal_content_has_equal_bytes_in_any_order_and_window():
    first = request_metrics(30)
    fips = tuple(replace(fip, metrics=fip.metrics[::-1]) for fip in first.fips[::-1])
    later = replace(request_metrics(30, start=WINDOW_START + timedelta(minutes=10)), fips=fips)

    assert encode_report(checked(first)) == encode_report(checked(later))


def test_a_size_beyond_4000_digits_counts_as_the_largest():
    fip = request_metrics(1).fips[0]
    blocks = tuple(
        replace(block, sum_of_size_of_data_packets="7" * 5000) if block.type == "fif" else block
        for block in fip.metrics
    )
    report = checked(replace(request_metrics(1), fips=(replace(fip, metrics=blocks),)))
    names = Names()

    (_, numbers), *none = encode_report(report)

    assert not none
    back = {
        block.type: block for _, block in blocks_of(decoded(numbers, b"", names, 1, 0), names.ids)
    }
    assert back["fif"].sum_of_size_of_data_packets == "9" * 4000


def test_windows_are_counted_from_1970():
    assert window_number(WINDOW_START) == WINDOW_START.timestamp() / 600
