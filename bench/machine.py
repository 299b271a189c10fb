"""The slowness of this machine next to the one on which the goals in seconds were set.

Goals that are ratios need nothing of this. A goal in seconds was set on one machine,
where one Argon2id hash took 19 ms; the same hash in the same run says
how much longer all else must take here. Both are printed: what was seen, and what that is at
that machine's speed. The faster of nine counts, so that a busy moment does not excuse us.
"""

import time
from typing import Final

from argon2.low_level import Type, hash_secret_raw

from bench.sizes import sized

HASH_WHERE_SET_MS: Final = 19.0
"""Argon2id, t=2, m=19 MiB, p=1."""


def slowness() -> float:
    """Returns how many times as long this machine takes, at least 1."""
    best = min(_hash_ms() for _ in range(sized(9, 1)))
    return max(1.0, best / HASH_WHERE_SET_MS)


def _hash_ms() -> float:
    started = time.process_time()
    hash_secret_raw(b"a password" * 2, b"a salt of sixteen", 2, 19 * 1024, 1, 32, Type.ID)
    return (time.process_time() - started) * 1000


def speed_note(times: float) -> str:
    """Say it next to figures in seconds."""
    return (
        f"this machine takes {times:.2f} times as long as the one where goals in seconds were set"
        f" (Argon2id of 19 MiB: {HASH_WHERE_SET_MS * times:.0f} ms, {HASH_WHERE_SET_MS:.0f} there)"
    )
