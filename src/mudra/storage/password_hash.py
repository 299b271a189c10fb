"""Argon2id with a pepper, in one thread with a bounded queue (quality A6, A8, A11).

Hashing competes with the event loop: one thread and parallelism 1 leave entity
tokens at 0.94 of their rate, more would halve them.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import argon2
from argon2.exceptions import InvalidHashError, VerificationError

from mudra.identity.password import normalised
from mudra.identity.ports import HashingBusy
from mudra.secret_text import SecretText

QUEUE: Final = 50
WAIT_S: Final = 2.0
_MIB: Final = 1024
_PEPPER_VERSION: Final = "p1$"

T = TypeVar("T")


class Argon2Passwords:
    """Implements identity/ports.py PasswordHasher."""

    def __init__(self, pepper: bytes, memory_mib: int) -> None:
        self._pepper = pepper
        # RFC 9106's second choice with parallelism 1.
        self._argon = argon2.PasswordHasher(
            time_cost=3, memory_cost=memory_mib * _MIB, parallelism=1
        )
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="argon2")
        self._waiting = 0
        self._nobody = _hash_of_nobody(memory_mib * _MIB)

    async def hash(self, password: SecretText) -> str | HashingBusy:
        """Hash a password."""
        peppered = self._peppered(password)
        return await self._in_turn(lambda: _PEPPER_VERSION + self._argon.hash(peppered))

    async def verify(self, stored: str | None, password: SecretText) -> bool | HashingBusy:
        """Check a password; without a stored hash this costs the same and is False."""
        peppered = self._peppered(password)
        return await self._in_turn(lambda: self._matches(stored, peppered))

    def needs_rehash(self, stored: str) -> bool:
        """Tell whether a stored hash has other parameters than those in force."""
        return self._argon.check_needs_rehash(stored.removeprefix(_PEPPER_VERSION))

    def _matches(self, stored: str | None, peppered: bytes) -> bool:
        known = stored.removeprefix(_PEPPER_VERSION) if stored else self._nobody
        try:
            return self._argon.verify(known, peppered) and stored is not None
        except (VerificationError, InvalidHashError):
            return False

    def _peppered(self, password: SecretText) -> bytes:
        return hmac.digest(self._pepper, normalised(password.reveal()).encode(), hashlib.sha256)

    async def _in_turn(self, work: Callable[[], T]) -> T | HashingBusy:
        if self._waiting >= QUEUE:
            return HashingBusy(retry_after_s=int(WAIT_S))
        self._waiting += 1
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def run() -> T:
            loop.call_soon_threadsafe(started.set)
            return work()

        future = self._thread.submit(run)
        try:
            await asyncio.wait_for(started.wait(), WAIT_S)
            return await asyncio.wrap_future(future)
        except TimeoutError:
            if future.cancel():
                return HashingBusy(retry_after_s=int(WAIT_S))
            return await asyncio.wrap_future(future)
        finally:
            self._waiting -= 1


def _hash_of_nobody(memory_kib: int) -> str:
    """Write a hash that no password has, at the same cost as a real one (quality A6)."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (16, 32)
    )
    return f"$argon2id$v=19$m={memory_kib},t=3,p=1${salt}${digest}"
