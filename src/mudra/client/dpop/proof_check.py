"""Checks the proof that comes with a token that is bound to a key (RFC 9449 7)."""

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeAlias

from mudra.client.entity_token import EntityToken
from mudra.client.errors import ProofRefused
from mudra.shared.dpop_proof import (
    WINDOW,
    DpopProof,
    PresentedProof,
    ProofInvalid,
    check_proof,
)

_WAY_OUT: Final = "answer 401, so that the caller makes a new proof for this request"
UseProof: TypeAlias = Callable[[bytes, datetime], bool]
"""Stores the hash of a proof until a time; returns False when it was there already."""


class ProofMemory:
    """The proofs that this process saw; a `UseProof`.

    Programs of several processes or machines that want a proof used once over all of them pass a
    function of their own, such as one on a shared Redis (`SET key 1 NX EXAT end`).
    """

    def __init__(self, size: int = 100_000) -> None:
        self._size = size
        self._seen: set[bytes] = set()
        # By the second in which they end: what has ended is found without a look at all of them.
        self._ending: dict[int, list[bytes]] = {}
        self._lock = threading.Lock()

    def __call__(self, use_hash: bytes, expires_at: datetime) -> bool:
        """Remember a proof; False when it is known, or when there is no room for it."""
        with self._lock:
            if use_hash in self._seen:
                return False
            if len(self._seen) >= self._size:
                self._drop_before(expires_at)
            if len(self._seen) >= self._size:
                return False  # to forget one that is valid would let it be used twice
            self._seen.add(use_hash)
            self._ending.setdefault(int(expires_at.timestamp()), []).append(use_hash)
            return True

    def _drop_before(self, latest: datetime) -> None:
        # What ends two windows before the latest one has ended by any clock that passed.
        ended = (latest - 2 * WINDOW).timestamp()
        for second in [one for one in self._ending if one + 1 <= ended]:
            self._seen.difference_update(self._ending.pop(second))


def check_binding(
    entity: EntityToken, token: str, proof: PresentedProof | None, use: UseProof, now: float
) -> None:
    """Raise ProofRefused unless a token that is bound to a key comes with a new proof of it."""
    if not entity.bound_to:
        return
    if proof is None or not proof.values:
        raise ProofRefused("the token is bound to a key and came without a proof", _WAY_OUT)
    if not proof.urls:
        raise ProofRefused(
            "the token is bound to a key, and this program does not know its own address",
            "give the middleware origins=[…]: those under which peers call this program",
        )
    found = check_proof(proof, datetime.fromtimestamp(now, UTC), token)
    if isinstance(found, ProofInvalid):
        raise ProofRefused(f"DPoP: {found.problem}", _WAY_OUT)
    _check_use(entity, found, use)


def _check_use(entity: EntityToken, proof: DpopProof, use: UseProof) -> None:
    if proof.thumbprint != entity.bound_to:
        raise ProofRefused("the proof is by another key than the token is bound to", _WAY_OUT)
    if not use(proof.use_hash, proof.expires_at):
        raise ProofRefused("the proof was used before", _WAY_OUT)
