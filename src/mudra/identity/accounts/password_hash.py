"""Argon2id with a pepper, in one thread with a bounded queue.

Hashing competes with the event loop: one thread and parallelism 1 leave entity
tokens at 0.94 of their rate, more would halve them.

A stored hash is `p<version of the pepper>$` and argon2's own encoded form, so a
pepper can be replaced: hashes under a previous one are replaced at sign-in.
"""

import asyncio
import base64
import hashlib
import hmac
import os
import re
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import argon2
from argon2.exceptions import InvalidHashError, VerificationError, VerifyMismatchError

from mudra.identity.accounts.password_rules import normalized
from mudra.identity.accounts.refusals import HashingBusy
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.fair_queue import Queue

QUEUE: Final = 50
"""So many wait for the thread, each at most `WAIT_S`; then a key with fewer waiting goes first."""
WAIT_S: Final = 2.0
TIME_COST: Final = 3
MIN_MEMORY_MIB: Final = 19
"""The minimum that OWASP ASVS 5.0 accepts."""
_MIB: Final = 1024
_NICER_BY: Final = 5
_MAX_NICE: Final = 19
_MIN_PEPPER: Final = 32
_STORED: Final = re.compile(r"p([1-9][0-9]{0,5})(\$argon2id\$.+)")

T = TypeVar("T")


class Argon2Passwords:
    """Implements identity/accounts/password_hasher.py PasswordHasher."""

    def __init__(
        self,
        pepper: bytes,
        memory_mib: int,
        *,
        pepper_version: int = 1,
        previous_peppers: Mapping[int, bytes] | None = None,
        weak: bool = False,
    ) -> None:
        """Take the current pepper with its version, and the peppers of older hashes.

        `weak` lets tests use less memory than MIN_MEMORY_MIB. Raises ValueError.
        """
        if memory_mib < MIN_MEMORY_MIB and not weak:
            raise ValueError(
                f"memory for password hashes must be at least {MIN_MEMORY_MIB} MiB, "
                f"not {memory_mib}"
            )
        self._peppers = {**(previous_peppers or {}), pepper_version: pepper}
        if any(len(key) < _MIN_PEPPER for key in self._peppers.values()):
            raise ValueError(f"a pepper must be at least {_MIN_PEPPER} random bytes")
        self._version = pepper_version
        # RFC 9106's second choice with parallelism 1.
        self._argon = argon2.PasswordHasher(
            time_cost=TIME_COST, memory_cost=memory_mib * _MIB, parallelism=1
        )
        self._dummy = _dummy_hash(memory_mib * _MIB)
        self._queue = Queue(1, WAIT_S, most_waiting=QUEUE)
        self._thread = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="argon2", initializer=_lower_priority
        )

    def __repr__(self) -> str:
        return f"Argon2Passwords(pepper_version={self._version})"

    async def hash(
        self, password: SecretText, *, account: str = "", origin: str = ""
    ) -> str | HashingBusy:
        """Hash a password; `account` and `origin` share the queue fairly."""
        return await self._in_turn(lambda: self._hashed(password), account, origin)

    async def verify(
        self, stored: str | None, password: SecretText, *, account: str = "", origin: str = ""
    ) -> bool | HashingBusy:
        """Check a password; without a stored hash this costs the same and is False."""
        return await self._in_turn(lambda: self._matches(stored, password), account, origin)

    def needs_rehash(self, stored: str) -> bool:
        """Return whether a stored hash has other parameters or another pepper than the current."""
        found = _STORED.fullmatch(stored)
        if found is None or int(found[1]) != self._version:
            return True
        try:
            return self._argon.check_needs_rehash(found[2])
        except InvalidHashError:
            return True

    def close(self) -> None:
        """Let the hash in progress finish and accept no more."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _in_turn(self, tx: Callable[[], T], account: str, origin: str) -> T | HashingBusy:
        """Do the work in its turn, or return that it would take too long."""
        named = {f"account:{account}" if account else "", f"origin:{origin}" if origin else ""}
        keys = named - {""}
        if not await self._queue.enter(*keys):
            return HashingBusy(retry_after_s=int(WAIT_S))
        working = asyncio.get_running_loop().run_in_executor(self._thread, tx)
        working.add_done_callback(lambda _: self._queue.leave(*keys))
        # The hash of a caller that goes away continues, and holds its place until it has ended.
        return await asyncio.shield(working)

    def _hashed(self, password: SecretText) -> str:
        return f"p{self._version}" + self._argon.hash(self._peppered(self._version, password))

    def _matches(self, stored: str | None, password: SecretText) -> bool:
        found = _STORED.fullmatch(stored or "")
        # What cannot match is checked against a dummy hash: each branch costs one.
        version, encoded = self._version, self._dummy
        if found is not None and int(found[1]) in self._peppers:
            version, encoded = int(found[1]), found[2]
        peppered = self._peppered(version, password)
        try:
            self._argon.verify(encoded, peppered)
        except VerifyMismatchError:
            return False
        except (InvalidHashError, VerificationError):
            # What argon2 cannot parse, it rejects before it has cost anything.
            return self._matches(None, password)
        return encoded is not self._dummy

    def _peppered(self, version: int, password: SecretText) -> bytes:
        return hmac.digest(
            self._peppers[version],
            # A lone surrogate never makes a good password, but must not break a sign-in.
            normalized(password.reveal()).encode(errors="surrogatepass"),
            hashlib.sha256,
        )


def _lower_priority() -> None:
    """Let the event loop go first where cores are busy: sign-ins wait anyway.

    Linux alone has a niceness for each thread; elsewhere it would be the process's.
    """
    if sys.platform == "linux":
        thread = threading.get_native_id()
        own = os.getpriority(os.PRIO_PROCESS, thread)
        os.setpriority(os.PRIO_PROCESS, thread, min(own + _NICER_BY, _MAX_NICE))


def _dummy_hash(memory_kib: int) -> str:
    """Return a hash that no password has, at the same cost as a real one."""
    salt, digest = (
        base64.b64encode(secrets.token_bytes(size)).rstrip(b"=").decode() for size in (16, 32)
    )
    return f"$argon2id$v=19$m={memory_kib},t={TIME_COST},p=1${salt}${digest}"
