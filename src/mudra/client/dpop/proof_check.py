"""Checks the proof that comes with a token that is bound to a key (RFC 9449 7)."""

from datetime import UTC, datetime
from typing import Final

from mudra.client.dpop.proof_memory import ProofUse, UseProof
from mudra.client.entity_token import EntityToken
from mudra.client.errors import ProofRefused
from mudra.shared.dpop_proof import DpopProof, PresentedProof, ProofInvalid, check_proof

_WAY_OUT: Final = "answer 401, so that the caller makes a new proof for this request"


def check_binding(
    entity: EntityToken, token: str, proof: PresentedProof | None, use: UseProof, now: float
) -> None:
    """Raise ProofRefused unless a token that is bound to a key comes with a new proof of it.

    A TooManyProofs for a peer that has used more of them than are remembered.
    """
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
    if not use(ProofUse(entity.entity_id, proof.use_hash, proof.expires_at)):
        raise ProofRefused("the proof was used before", _WAY_OUT)
