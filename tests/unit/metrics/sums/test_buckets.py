"""Cells of one FIP are in one bucket, which its ID alone says for each fan."""

from collections import Counter

import msgspec
import pytest
from tests.support.metrics.metrics_payloads import SOON_AFTER, request_metrics

from mudra.metrics.payload.catalogue import RequestType
from mudra.metrics.payload.validation import CheckedReport, check_report
from mudra.metrics.sums.buckets import bucket_of, buckets_of, fan_of, split
from mudra.metrics.sums.cells import Names, empty
from mudra.metrics.sums.report_cells import report_cells

FANS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


@pytest.mark.parametrize(
    ("cells", "fan"),
    [(0, 1), (4096, 1), (4097, 2), (22_000, 8), (28_000, 8), (98_000, 32), (10**7, 512)],
)
def test_a_bucket_has_about_four_thousand_cells(cells: int, fan: int):
    assert fan_of(cells) == fan


def test_no_two_buckets_of_a_fip_are_the_same():
    for fip_id in ("KAVERI-FIP", "a", "fip@bank.example"):
        assert buckets_of(fip_id) == tuple(bucket_of(fip_id, fan) for fan in FANS)
        assert [bucket.bit_length() for bucket in buckets_of(fip_id)] == [*range(1, 11)]
    assert bucket_of("KAVERI-FIP", 512) == bucket_of("KAVERI-FIP", 512)


@pytest.mark.parametrize("fan", FANS)
def test_buckets_have_the_cells_of_their_fips(fan: int):
    checked = check_report(msgspec.json.encode(request_metrics(60)), SOON_AFTER)
    assert isinstance(checked, CheckedReport)
    names = Names()
    cells = report_cells(checked, names)

    parts = [*split(cells, names.ids, fan)]

    found = Counter[str]()
    for bucket, part in parts:
        for place in part.keys["fip"].tolist():
            assert bucket == bucket_of(names.ids[place], fan)
            found[names.ids[place]] += 1
    assert found == dict.fromkeys(checked.fip_ids, len(RequestType))
    assert len({bucket for bucket, _ in parts}) == len(parts)


def test_no_cells_have_no_bucket():
    assert not [*split(empty(), [""], 4)]
