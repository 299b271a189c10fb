"""Shares in per cent: rounded down, and exact where the share is."""

import math

from mudra.metrics.rollup.percentage import percentage


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
