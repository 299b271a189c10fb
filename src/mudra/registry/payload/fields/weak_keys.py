"""RSA moduli that anyone can factor, or that are no product of two primes at all.

The classes of weak keys are those that badkeys (badkeys.info) looks for. Number theory comes
from gmpy2; a modulus of 2048 bits takes about 0.02 s, of 8192 bits 0.1 s, and the first one of a
process 0.3 s more.

A larger factor takes too long for a request: `registry/key_search` looks for those to 2^32 later.
Measured for a good key of 2048 bits, in November 2026: elliptic curves by gmpy2 take 0.75 s to
find 999 in 1,000 of 32 bits, Pollard's rho 0.3 s in the mean and no bound, and
`fmpz.factor_smooth(32)` of FLINT takes 0.3 s and finds 18 of 30.
"""

import math
from functools import cache
from typing import Final

import gmpy2

from mudra.localization.language import translatable

LARGEST_FACTOR: Final = 1 << 24
_FERMAT_ROUNDS: Final = 100
_ROCA_PRIMES: Final = (11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157)


_FIRST_PRIMES: Final = gmpy2.primorial(1 << 16)
_ROCA_RESIDUES: Final = {
    prime: frozenset(pow(65537, power, prime) for power in range(prime)) for prime in _ROCA_PRIMES
}


def weakness(modulus: int) -> str | None:
    """Return why an odd modulus is no safe RSA modulus; None when no weakness is known."""
    n = gmpy2.mpz(modulus)
    if gmpy2.gcd(n, _FIRST_PRIMES) != 1 or gmpy2.gcd(n, small_primes()) != 1:
        return translatable("has a small prime factor, so anyone can sign with it")
    if gmpy2.is_power(n):
        return translatable("is a power of one prime, so anyone can sign with it")
    if _primes_are_close(modulus):
        return translatable("has two primes so close that anyone can find them (CVE-2022-26320)")
    if _is_roca(modulus):
        return translatable(
            "was made by a library whose keys can be factored (ROCA, CVE-2017-15361)"
        )
    if gmpy2.is_strong_prp(n, 2):
        return translatable("is a prime itself, so it is no RSA modulus")
    return None


@cache
def small_primes() -> gmpy2.mpz:
    """Return the product of all primes to `LARGEST_FACTOR`: 3 MB."""
    return gmpy2.primorial(LARGEST_FACTOR)


def _primes_are_close(n: int) -> bool:
    """Return whether Fermat's method finds the two primes at once; n is no square."""
    first = math.isqrt(n) + 1
    return any(
        math.isqrt(rest := mean * mean - n) ** 2 == rest
        for mean in range(first, first + _FERMAT_ROUNDS)
    )


def _is_roca(n: int) -> bool:
    """Return whether n has the fingerprint of Infineon's RSALib: a power of 65537 modulo each."""
    return all(n % prime in residues for prime, residues in _ROCA_RESIDUES.items())
