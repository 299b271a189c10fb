"""RSA key pairs of services whose tests are not about how a prime is found.

A service makes four key pairs when it starts, and others when its clock is moved by weeks: to find
their primes took a fifth of the CPU of a start. The process that forks services finds some primes
once. Each key pair is made of another two of them, so no two services share one; when all are
used, and for other sizes, the primes are found as they always are.
"""

import itertools
import os
import secrets
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Final, cast

import gmpy2
from cryptography.hazmat.primitives.asymmetric import rsa
from joserfc._rfc7517.types import KeyParameters
from joserfc.jwk import RSAKey

from mudra.registry.payload import new_jwk
from mudra.tokens.signing_keys import key_pairs

_BITS: Final = 2048
_PRIMES: Final = 90
"""4,005 pairs of them: for four pairs of each service of a run, and more."""
_E: Final = 65537


def install(number_of_primes: int = _PRIMES) -> None:
    """Let this process and its forks make their key pairs so."""
    primes = [_prime() for _ in range(number_of_primes)]
    pairs = list(itertools.combinations(primes, 2))
    # What a process takes out of a pipe no other one gets. Two bytes for each pair, less than 64 KiB.
    numbers, write = os.pipe()
    os.write(write, b"".join(n.to_bytes(2) for n in range(len(pairs))))
    os.close(write)

    def taken() -> tuple[int, int] | None:
        number = os.read(numbers, 2)
        return pairs[int.from_bytes(number)] if number else None

    _make_of(taken)


def install_here() -> None:
    """Let this process, which runs tests, make its own of primes that it finds when it needs them."""
    _make_of(_next_own)


def _make_of(take: Callable[[], tuple[int, int] | None]) -> None:
    def generate_private_key(public_exponent: int, key_size: int) -> rsa.RSAPrivateKey:
        usual = (public_exponent, key_size) == (_E, _BITS)
        pair = take() if usual else None
        return rsa.generate_private_key(public_exponent, key_size) if pair is None else _of(*pair)

    def generate_key(bits: int) -> RSAKey:
        pair = generate_private_key(_E, bits)
        return RSAKey(pair, pair)

    vars(key_pairs)["rsa"] = SimpleNamespace(generate_private_key=generate_private_key)
    # Those of the demonstration's members, of which each sandbox makes eleven.
    *others, _ = new_jwk.new_key.__defaults__ or ()
    new_jwk.new_key.__defaults__ = (*others, generate_key)


def rsa_key(**parameters: str) -> RSAKey:
    """A key pair of its own for a test, with these parameters of a JWK, such as `kid`."""
    pair = _of(*_next_own())
    return RSAKey(pair, pair, cast("KeyParameters", dict(parameters)))


def _pairs() -> Iterator[tuple[int, int]]:
    found: list[int] = []
    while True:
        last = _prime()
        yield from ((one, last) for one in found)
        found.append(last)


_own: Final = _pairs()
_one_at_a_time: Final = threading.Lock()


def _next_own() -> tuple[int, int]:
    with _one_at_a_time:
        return next(_own)


def _prime() -> int:
    """A random prime whose product with another one has all the bits."""
    while True:
        top = 3 << (_BITS // 2 - 2)
        found = int(gmpy2.next_prime(top | secrets.randbits(_BITS // 2 - 2)))
        if (found - 1) % _E:
            return found


def _of(p: int, q: int) -> rsa.RSAPrivateKey:
    d = rsa.rsa_recover_private_exponent(_E, p, q)
    exponents = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    numbers = rsa.RSAPrivateNumbers(p, q, d, *exponents, rsa.RSAPublicNumbers(_E, p * q))
    return numbers.private_key(unsafe_skip_rsa_key_validation=True)
