"""Shares in per cent: rounded down, and exact where the share is; parts to the nearest."""

import math

from mudra.metrics.rollup.percentage import nearest_percentage, percentage


def test_a_share_is_rounded_down_and_never_below_what_it_is():
    for eligible in (*range(1, 201), 10_007, 300_000):
        for succeeded in range(0, eligible + 1, max(1, eligible // 200)):
            exact = succeeded * 10_000 // eligible / 100
            assert percentage(succeeded / eligible) == exact, (succeeded, eligible)
            assert percentage(succeeded / eligible, 1) == succeeded * 1000 // eligible / 10


def test_nearly_all_is_not_all_and_nothing_known_is_nothing_said():
    assert percentage(0.999999) == 99.99
    assert percentage(0.57) == 57.0
    assert percentage(math.nextafter(0.0037, 0)) == 0.36
    assert percentage(0.0000001) == 0.0
    assert percentage(None) is None


def test_parts_are_rounded_to_the_nearest_and_add_up():
    for whole in (*range(1, 301), 10_007, 11_474_862):
        for done in range(0, whole + 1, max(1, whole // 300)):
            parts = nearest_percentage(done / whole, 1), nearest_percentage(1 - done / whole, 1)
            tie = 2000 * done % whole == 0
            assert tie or round(sum(parts), 1) == 100.0, (done, whole, parts)
            assert (parts[0] == 100.0) == (done == whole)
            assert (parts[0] == 0.0) == (done == 0)
    assert nearest_percentage(57_056 / 475_883, 1) == 12.0
    assert nearest_percentage(0.99999, 1) == 99.9
    assert nearest_percentage(0.00001, 1) == 0.1
    assert nearest_percentage(None) is None
