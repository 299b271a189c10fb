"""Finds which RSA moduli a prime of a range divides, and which share a prime. Pure.

The primes of the range are multiplied with each other, and the product is kept modulo the product
of all the moduli: a modulus that has one of them has a common divisor with it. So no prime is left
out, and one search serves all keys at once. From 2^24 to 2^32 it takes some 60 s of CPU for one
key of 2048 bits, and 150 s for 2,000 (November 2026).
"""

import operator
from collections.abc import Sequence
from functools import cache
from itertools import starmap
from typing import Final

import gmpy2
import numpy as np
import numpy.typing as npt

_SPAN: Final = 1 << 22
"""Numbers that are sieved at a time: a product of some 750 kB."""

Primes = npt.NDArray[np.uint64]


def divisible(moduli: Sequence[int], begin: int, end: int) -> list[bool]:
    """Return of each modulus whether a prime from `begin` up to `end`, at most 2^32, divides it."""
    numbers = [gmpy2.mpz(one) for one in moduli]
    whole = _product(numbers)
    rest = gmpy2.mpz(1)
    for low in range(begin & ~1, end, _SPAN):
        found = primes(low, min(low + _SPAN, end))
        rest = rest * (_product_of_primes(found[found >= begin]) % whole) % whole
    return [
        gmpy2.gcd(one, n) != 1 for one, n in zip(_remainders(rest, numbers), numbers, strict=True)
    ]


def sharing(moduli: Sequence[int], others: Sequence[int]) -> list[tuple[int, int]]:
    """Return each pair that shares a prime, by the places of both in `moduli` and then `others`.

    The first of a pair is one of the moduli; all are different numbers.
    """
    every = [gmpy2.mpz(one) for one in (*moduli, *others)]
    whole = _product(every)
    return [
        (place, partner)
        for place, n in enumerate(every[: len(moduli)])
        if gmpy2.gcd(gmpy2.divexact(whole, n) % n, n) != 1
        for partner, other in enumerate(every)
        if partner != place and gmpy2.gcd(n, other) != 1
    ]


def primes(low: int, end: int) -> Primes:
    """Return the odd primes from an even number up to one that is at most 2^32, in order."""
    odd = np.ones((end - low) // 2, dtype=bool)
    if low == 0:
        odd[:1] = False  # 1 is no prime
    for prime in _sieving_primes():
        if prime * prime >= end:
            break
        first = max(prime * prime, -(-low // prime) * prime)
        odd[(first + (first % 2 == 0) * prime - low) // 2 :: prime] = False
    return (np.flatnonzero(odd) * 2 + (low + 1)).astype(np.uint64)


@cache
def _sieving_primes() -> list[int]:
    """Return the odd primes to 2^16: each number below 2^32 that is no prime has one of them."""
    is_prime = np.ones(1 << 16, dtype=bool)
    for one in range(3, 1 << 8, 2):
        if is_prime[one]:
            is_prime[one * one :: one] = False
    return [int(one) for one in np.flatnonzero(is_prime[3::2]) * 2 + 3]


def _product_of_primes(found: Primes) -> gmpy2.mpz:
    # Two of 32 bits fit into 64: numpy halves the numbers that Python makes.
    pairs = found[: len(found) // 2 * 2].reshape(-1, 2).prod(axis=1).tolist()
    return _product([gmpy2.mpz(one) for one in (*pairs, *found[len(pairs) * 2 :].tolist())])


def _product(numbers: Sequence[gmpy2.mpz]) -> gmpy2.mpz:
    """Multiply numbers of one size with each other, which is faster than one after the other."""
    while len(numbers) > 1:
        odd_one = numbers[len(numbers) // 2 * 2 :]
        numbers = [*starmap(operator.mul, zip(numbers[::2], numbers[1::2], strict=False)), *odd_one]
    return numbers[0] if numbers else gmpy2.mpz(1)


def _remainders(number: gmpy2.mpz, moduli: Sequence[gmpy2.mpz]) -> list[gmpy2.mpz]:
    """Return the remainder for each modulus, by those for the products of halves of them."""
    if len(moduli) == 1:
        return [number % moduli[0]]
    if not moduli:
        return []
    rest, middle = number % _product(moduli), len(moduli) // 2
    return _remainders(rest, moduli[:middle]) + _remainders(rest, moduli[middle:])
