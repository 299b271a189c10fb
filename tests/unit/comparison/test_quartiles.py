"""Quartiles that no member can be found in, however often one asks."""

from hypothesis import given
from hypothesis import strategies as st

from mudra.comparison.quartiles import (
    Quartiles,
    of_group,
    quartiles,
    rounded_share,
    rounded_time,
    size_band,
)

SHARES = st.floats(0, 1, allow_nan=False)


@given(st.lists(SHARES, max_size=4))
def test_fewer_than_five_others_are_hidden(shares: list[float]) -> None:
    assert quartiles(shares) is None


@given(st.lists(SHARES, min_size=5, max_size=5))
def test_a_group_of_five_is_hidden_as_each_of_them_has_four_others(shares: list[float]) -> None:
    assert quartiles(shares) is not None
    assert of_group(shares) is None


@given(st.lists(SHARES, min_size=5, max_size=40), st.randoms())
def test_each_is_a_mean_of_three_or_four_members_in_any_order(shares, dice) -> None:
    found = quartiles(shares)
    shuffled = [*shares]
    dice.shuffle(shuffled)

    assert found is not None
    assert quartiles(shuffled) == found
    assert min(shares) - 1e-9 <= found.low <= found.median + 1e-9
    assert found.median - 1e-9 <= found.high <= max(shares) + 1e-9


@given(st.lists(SHARES, min_size=4, max_size=40), SHARES, SHARES)
def test_the_change_of_one_member_is_seen_by_a_third_at_most(others, before, after) -> None:
    """Two answers between which one member moved never show its values, wherever it moved."""
    first, second = quartiles([*others, before]), quartiles([*others, after])

    assert first is not None
    assert second is not None
    for one, other in (
        (first.low, second.low),
        (first.median, second.median),
        (first.high, second.high),
    ):
        assert abs(one - other) <= abs(before - after) / 3 + 1e-9


def test_the_places_are_symmetrical() -> None:
    assert quartiles([0, 1, 2, 3, 4]) == Quartiles(1, 2, 3)
    assert quartiles([0, 0, 0, 3, 12, 21, 21, 21]) == Quartiles(1, 9, 18)


def test_answers_are_rounded_to_whole_percent_and_two_digits() -> None:
    assert rounded_share(Quartiles(0.9312, 0.9871, 1.0)) == Quartiles(0.93, 0.99, 1.0)
    assert rounded_time(Quartiles(0, 1234, 87)) == Quartiles(0, 1200, 87)


def test_the_size_of_a_group_is_a_band() -> None:
    assert [size_band(one) for one in (0, 5, 6, 9, 10, 1999)] == [
        "fewer than 6", "fewer than 6", "6 to 9", "6 to 9", "10 to 19", "1000 or more",
    ]  # fmt: skip
