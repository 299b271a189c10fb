"""Shares in per cent: half to even, exact where the share is, and failed next to succeeded."""

import math
from fractions import Fraction

import pytest

from mudra.metrics.rollup.percentage import failing_text, percentage, share_of


def test_a_share_is_rounded_half_to_even_and_the_failed_one_adds_up_to_100():
    for eligible in (*range(1, 201), 10_007, 300_000):
        for succeeded in range(0, eligible + 1, max(1, eligible // 200)):
            for places in (1, 2):
                one = 10**places
                exact = round(Fraction(100 * one * succeeded, eligible))
                if 0 < succeeded < eligible:
                    exact = min(max(exact, 1), 100 * one - 1)
                shown = percentage(share_of(succeeded, eligible), places)
                failed = percentage(share_of(eligible - succeeded, eligible), places)
                assert shown == exact / one, (succeeded, eligible)
                assert round(one * (shown + failed)) == 100 * one, (succeeded, eligible)


def test_nearly_all_is_not_all_and_nothing_known_is_nothing_said():
    assert percentage(0.999999) == 99.99
    assert percentage(0.57) == 57.0
    assert percentage(math.nextafter(0.0037, 0)) == 0.37
    assert percentage(0.0000001) == 0.01
    assert (percentage(0.0), percentage(1.0)) == (0.0, 100.0)
    assert percentage(None) is None


@pytest.mark.parametrize(
    ("succeeded", "eligible", "text"),
    [
        (3219, 10_000, "67.8 %"),
        (20, 100, "80 %"),
        (9_999, 10_000, "under 0.1 %"),
        (999, 1_000, "0.1 %"),
        (1, 10_000, "99.9 %"),
        (0, 7, "100 %"),
        (7, 7, "0 %"),
    ],
)
def test_a_title_has_a_decimal_where_the_share_has_one(succeeded, eligible, text):
    assert failing_text(succeeded, eligible) == text
