"""The proofs that a process saw: each is accepted once (RFC 9449 11.1)."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import Final, TypeAlias

import msgspec

from mudra.client.errors import TooManyProofs
from mudra.shared.dpop_proof import WINDOW
from mudra.shared.waiting.fork_lock import ForkLock

PER_PEER: Final = 50_000
"""Proofs of one peer at a time, 11 MB: 400 requests a second, each kept for 2 minutes."""


class ProofUse(msgspec.Struct, frozen=True):
    """A valid proof that is about to be accepted."""

    peer: str
    """Entity ID of the caller, from its token: a peer may have any number of keys."""
    use_hash: bytes
    """Names this very proof."""
    expires_at: datetime
    """From then on it is refused by its time, and need not be known."""


UseProof: TypeAlias = Callable[[ProofUse], bool]
"""Stores a proof until it ends; returns False when it was there already."""


class ProofMemory:
    """The proofs that this process saw; a `UseProof`.

    A peer that has `per_peer` valid proofs here gets no further one accepted until some have ended;
    the other peers do not notice.

    Programs of several processes or machines that want a proof used once over all of them pass a
    function of their own, such as one on a shared Redis (`SET hash 1 NX EXAT end`).
    """

    def __init__(self, per_peer: int = PER_PEER) -> None:
        self._per_peer = per_peer
        self._seen: set[bytes] = set()
        self._held = Counter[str]()
        # By the second in which they end: what has ended is found without a look at all of them.
        self._ending: dict[int, list[ProofUse]] = {}
        self._dropped_before = 0
        self._lock = ForkLock()

    def __call__(self, use: ProofUse) -> bool:
        """Remember a proof; False when it is known. Raises TooManyProofs for one peer's flood."""
        with self._lock:
            self._drop_ended(use.expires_at)
            if use.use_hash in self._seen:
                return False
            # To forget one that is valid would let it be used twice.
            if self._held[use.peer] >= self._per_peer:
                raise TooManyProofs(
                    f"{use.peer} has {self._per_peer} proofs that are still valid",
                    "answer 429, so that the caller sends fewer requests",
                )
            self._seen.add(use.use_hash)
            self._held[use.peer] += 1
            self._ending.setdefault(int(use.expires_at.timestamp()), []).append(use)
            return True

    def _drop_ended(self, latest: datetime) -> None:
        # What ends two windows before the latest one has ended by any clock that passed.
        ended = int((latest - 2 * WINDOW).timestamp())
        if ended <= self._dropped_before:
            return
        self._dropped_before = ended
        for second in [one for one in self._ending if one < ended]:
            for use in self._ending.pop(second):
                self._seen.discard(use.use_hash)
                self._held[use.peer] -= 1
        self._held = +self._held  # without the peers that have none
