"""Factors of RSA moduli that a registration does not look for."""

from itertools import pairwise

import gmpy2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mudra.registry.key_search.small_factors import divisible, primes, sharing

LAST = 1 << 32


def prime(bits: int, salt: int) -> int:
    return int(gmpy2.next_prime((3 << (bits - 2)) + (salt << (bits // 2)) + 98765))


P, Q, R = (prime(1024, salt) for salt in (3, 7_777_777, 123_456_789))
GOOD, REST = P * Q, Q * R


@given(st.integers(0, (LAST >> 1) - 2000), st.integers(1, 2000))
@example(0, 2)
def test_the_primes_of_a_range_are_all_of_its_primes(half: int, length: int) -> None:
    low, end = 2 * half, 2 * half + length

    assert primes(low, end).tolist() == [
        one for one in range(max(low, 3), end) if gmpy2.is_prime(one)
    ]


def test_the_last_numbers_below_the_limit_are_searched() -> None:
    assert primes(LAST - 20, LAST).tolist() == [LAST - 17, LAST - 5]


@pytest.mark.parametrize("small", [16_777_259, 2_147_483_647, 2_147_483_659, LAST - 5])
def test_a_modulus_with_a_small_prime_is_found_where_it_is_and_nowhere_else(small: int) -> None:
    moduli = [GOOD, small * REST, P * R]

    assert divisible(moduli, small, small + 1) == [False, True, False]
    assert divisible(moduli, small - 1000, small) == [False] * 3
    assert divisible(moduli, small + 1, min(small + 1000, LAST)) == [False] * 3


def test_parts_of_a_range_find_what_the_whole_finds() -> None:
    """Six of 30 bits, in a range that is sieved in several steps."""
    begin, end = 1 << 29, (1 << 29) + 13_000_001
    smalls = [int(gmpy2.next_prime(begin + at * 2_500_000)) for at in range(6)]
    moduli = [GOOD, *(small * REST for small in smalls)]

    assert divisible(moduli, begin, end) == [False] + [True] * 6
    edges = [begin, begin + 3_333_333, begin + 7_000_000, end]
    parts = [divisible(moduli, low, high) for low, high in pairwise(edges)]
    assert [sum(one) for one in zip(*parts, strict=True)] == [0] + [1] * 6


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_each_prime_of_a_range_is_tried_whatever_their_number(count: int) -> None:
    smalls = [int(one) for one in primes(1 << 24, (1 << 24) + 200)[:count]]
    moduli = [GOOD, *(small * REST for small in smalls)]

    assert divisible(moduli, 1 << 24, smalls[-1] + 1) == [False] + [True] * count


def test_two_small_primes_in_one_modulus_are_one_finding() -> None:
    assert divisible([16_777_259 * 16_777_289 * REST], 1 << 24, (1 << 24) + 100) == [True]


def test_moduli_that_share_a_prime_are_found_among_each_other_and_the_others() -> None:
    s, t, u, v = (prime(1024, salt) for salt in (11, 12, 13, 14))

    assert sharing([GOOD, s * t], [u * v, P * R]) == [(0, 3)]
    assert sharing([P * Q, P * R], [s * t]) == [(0, 1), (1, 0)]
    assert sharing([P * Q], [P * R, Q * s]) == [(0, 1), (0, 2)]
    assert sharing([s * t], [u * v]) == []
    assert sharing([s * t], []) == []
