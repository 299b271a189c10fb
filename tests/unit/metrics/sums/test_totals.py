"""Totals: rows of what was added up, with what is certain, reported or estimated."""

from datetime import timedelta

import msgspec
import pytest
from tests.support.metrics.metrics_payloads import (
    SOON_AFTER,
    notification_metrics,
    request_metrics,
)

from mudra.metrics.payload.catalogue import RequestType, Tag
from mudra.metrics.payload.report import Report, RequestBlock
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums.adding import added, joined
from mudra.metrics.sums.cells import Names, empty
from mudra.metrics.sums.report_cells import report_cells
from mudra.metrics.sums.rollup import Cell, Late
from mudra.metrics.sums.totals import Totals

REQUESTS = request_metrics(3)
NOTIFICATIONS = notification_metrics(3, aa_id="aa@other")


def totals_of(*reports: Report) -> Totals:
    names = Names()
    found = []
    for report in reports:
        checked = check_report(msgspec.json.encode(report), SOON_AFTER)
        assert isinstance(checked, CheckedReport), checked
        found.append(report_cells(checked, names))
    return Totals(joined(found), names.ids)


def test_rows_of_a_single_report_have_the_times_as_they_were_reported():
    rows = dict(totals_of(REQUESTS).items())

    assert len(rows) == 3 * len(RequestType)
    for fip in REQUESTS.fips:
        for block in fip.metrics:
            row = rows[Cell("aa@sakshi", fip.fip_id, Tag.REQUESTS, block.type)]
            assert row.counts == block.counts
            assert row.data_bytes == int(block.counted_size or 0)
            assert row.blocks == 1
            assert row.time is not None
            assert row.time.reported
            assert (row.time.p50, row.time.p95, row.time.p99, row.time.p100) == block.pxx
            assert row.time.samples == row.answered == sum(block.counts[1:])


def test_rows_of_sums_have_estimates_and_the_exact_longest():
    (cell, row), *others = totals_of(REQUESTS, NOTIFICATIONS).only(Tag.REQUESTS).by("aa").items()

    blocks = [block for fip in REQUESTS.fips for block in fip.metrics]
    assert not others
    assert cell == Cell("aa@sakshi", "", Tag.REQUESTS, "")
    assert row.blocks == len(blocks)
    assert row.counts == tuple(map(sum, zip(*(block.counts for block in blocks), strict=True)))
    assert row.time is not None
    assert not row.time.reported
    assert row.time.samples == row.answered
    assert row.time.p100 == max(block.pxx[3] for block in blocks)
    assert 0 < row.time.p50 < row.time.p95 < row.time.p99 <= row.time.p100


def test_rows_of_notifications_have_outcomes_and_no_times():
    rows = dict(totals_of(REQUESTS, NOTIFICATIONS).only(Tag.NOTIFICATIONS, {"finot"}).items())

    for fip in NOTIFICATIONS.fips:
        row = rows[Cell("aa@other", fip.fip_id, Tag.NOTIFICATIONS, "finot")]
        assert (row.statuses, row.counts) == (fip.metrics[0].status, fip.metrics[0].counts)
        assert row.time is None
        assert row.late == Late(0, 0, 0)


def test_the_two_kinds_of_cnot_are_apart():
    totals = totals_of(REQUESTS, NOTIFICATIONS)

    assert [len(totals.only(tag, {"cnot"})) for tag in Tag] == [3, 3]
    assert len(totals.only(Tag.REQUESTS)) == 3 * len(RequestType)
    assert {cell.tag for cell, _ in totals.only(Tag.NOTIFICATIONS).by("type").items()} == {
        Tag.NOTIFICATIONS
    }


def test_rows_without_an_answer_have_no_time():
    silent = RequestBlock("hbt", (3, 4, 5, 6), (9, *[0] * 14))
    fip = msgspec.structs.replace(REQUESTS.fips[0], metrics=(silent,))
    totals = totals_of(msgspec.structs.replace(REQUESTS, fips=(fip,)))

    assert [row.time for row in totals.rows()] == [None]
    assert [row.time for row in totals.by("fip").rows()] == [None]


def test_times_that_were_not_asked_for_are_none_and_late_calls_still_counted():
    totals = totals_of(REQUESTS)
    without = Totals(added([totals.cells], ("fip",), times=False), totals.ids)

    assert [row.time for row in without.rows()] == [None] * 3
    assert [row.late for row in without.rows()] == [row.late for row in totals.by("fip").rows()]


def test_steps_are_by_time():
    totals = totals_of(REQUESTS).by("at")

    (at,), (row,) = totals.starts(), totals.rows()
    assert at == SOON_AFTER - timedelta(seconds=SOON_AFTER.timestamp() % 600, minutes=10)
    assert row.blocks == 3 * len(RequestType)


@pytest.mark.parametrize("keys", [(), ("aa",), ("at", "fip")])
def test_sums_of_nothing_have_no_row(keys: tuple[str, ...]):
    totals = Totals(empty(), [""])

    assert len(totals) == len(totals.by(*keys)) == 0
    assert [*totals.by(*keys).items()] == []
    assert len(totals.only(Tag.REQUESTS)) == 0
