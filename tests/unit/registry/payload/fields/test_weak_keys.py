import math

import gmpy2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from mudra.registry.payload.fields.weak_keys import _ROCA_PRIMES, weakness


def prime(bits: int, salt: int = 0) -> int:
    return int(gmpy2.next_prime((3 << (bits - 2)) + (salt << (bits // 2)) + 98765))


P, Q = prime(1024, 3), prime(1024, 7_777_777)

POWER = "is a power of one prime, so anyone can sign with it"
SMALL = "has a small prime factor, so anyone can sign with it"
CLOSE = "has two primes so close that anyone can find them (CVE-2022-26320)"
ROCA = "was made by a library whose keys can be factored (ROCA, CVE-2017-15361)"


def roca_modulus() -> int:
    """A modulus with the fingerprint of RSALib, without its factors."""
    period = math.prod(_ROCA_PRIMES)
    lift, first_primes = pow(65537, 1234, period), gmpy2.primorial(1 << 16)
    n = (1 << 2047) // period * period + lift
    while gmpy2.gcd(n, first_primes) != 1 or weakness(n) == SMALL:
        n += period
    return n


@pytest.mark.parametrize(
    ("modulus", "problem"),
    [
        (prime(2048), "is a prime itself, so it is no RSA modulus"),
        (prime(683) ** 3, POWER),
        (P**2, POWER),
        (65521 * P * Q, SMALL),
        (16_777_213 * P * Q, SMALL),  # the last below 2^24
        (16_777_213 * (P * Q) ** 4, SMALL),
        (P * int(gmpy2.next_prime(P)), CLOSE),
    ],
    ids=["prime", "cube", "square", "small-factor", "24-bits", "of-8192", "close"],
)
def test_a_weak_modulus_is_refused_with_its_reason(modulus: int, problem: str) -> None:
    found = weakness(modulus)

    assert found == problem


def test_a_modulus_with_the_fingerprint_of_a_library_is_refused() -> None:
    assert weakness(roca_modulus()) == ROCA


@pytest.mark.parametrize(("step", "close"), [(1, True), (2, True), (100, True), (101, False)])
def test_primes_are_close_that_a_hundred_steps_from_the_root_find(step: int, close: bool) -> None:
    """Their mean is the number of that step above the root of the product."""
    other = int(gmpy2.next_prime(P + 2 * math.isqrt((2 * step - 1) * P)))
    found = weakness(P * other)

    assert found == (CLOSE if close else None)


def test_a_product_of_two_distant_primes_is_accepted() -> None:
    assert weakness(P * Q) is None


@pytest.mark.parametrize("bits", [2048, 3072])
def test_a_new_key_is_accepted(bits: int) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)

    assert weakness(key.private_numbers().public_numbers.n) is None
