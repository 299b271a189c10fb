import math

import gmpy2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from mudra.registry.payload.fields.weak_keys import _ROCA_PRIMES, weakness


def prime(bits: int, salt: int = 0) -> int:
    return int(gmpy2.next_prime((3 << (bits - 2)) + (salt << (bits // 2)) + 98765))


P, Q = prime(1024, 3), prime(1024, 7_777_777)


def roca_modulus() -> int:
    """A modulus with the fingerprint of RSALib, without its factors."""
    period = math.prod(_ROCA_PRIMES)
    lift = pow(65537, 1234, period)
    n = (1 << 2047) // period * period + lift
    while weakness_of_others(n):
        n += period
    return n


def weakness_of_others(n: int) -> bool:
    found = weakness(n)
    return n % 2 == 0 or (found is not None and "ROCA" not in found)


@pytest.mark.parametrize(
    ("modulus", "problem"),
    [
        (prime(2048), "prime itself"),
        (prime(683) ** 3, "power of one prime"),
        (P**2, "power of one prime"),
        (65521 * prime(2032), "small prime factor"),
        (16_777_213 * prime(2024), "small prime factor"),  # the last below 2^24
        (16_777_213 * prime(8168), "small prime factor"),
        (P * int(gmpy2.next_prime(P)), "close"),
        (roca_modulus(), "ROCA"),
    ],
    ids=["prime", "cube", "square", "small-factor", "24-bits", "of-8192", "close", "roca"],
)
def test_a_weak_modulus_is_refused_with_its_reason(modulus: int, problem: str) -> None:
    found = weakness(modulus)

    assert found is not None
    assert problem in found


@pytest.mark.parametrize(("step", "close"), [(1, True), (2, True), (100, True), (101, False)])
def test_primes_are_close_that_a_hundred_steps_from_the_root_find(step: int, close: bool) -> None:
    """Their mean is the number of that step above the root of the product."""
    other = int(gmpy2.next_prime(P + 2 * math.isqrt((2 * step - 1) * P)))
    found = weakness(P * other)

    assert (found is not None) is close
    assert found is None or "so close that anyone can find them" in found


def test_a_product_of_two_distant_primes_is_accepted() -> None:
    assert weakness(P * Q) is None


@pytest.mark.parametrize("bits", [2048, 3072])
def test_a_new_key_is_accepted(bits: int) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)

    assert weakness(key.private_numbers().public_numbers.n) is None
