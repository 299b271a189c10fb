"""Accept each DPoP proof once, on whichever node (RFC 9449 11.1)."""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

from mudra.audit.ports import AuditLog
from mudra.shared.dpop_proof import (
    DpopProof,
    PresentedProof,
    ProofInvalid,
    bound_key,
    check_proof,
)
from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.token_check import VerifiedToken

USED: Final = ProofInvalid("it was used before: make one for each request")
_NEEDED: Final = ProofInvalid(
    "the token is bound to a key: send it as Authorization: DPoP, with a proof"
)
_NOT_BOUND: Final = ProofInvalid("the token is not bound to a key: send it as Bearer")
_OTHER_KEY: Final = ProofInvalid("jwk is not the key that the token is bound to")


class UsedProofs(Protocol):
    """The proofs that were used, in the caller's transaction."""

    async def use(self, proof: DpopProof) -> bool:
        """Store that a proof is used; False when it was already."""


class ProofUnitOfWork(Protocol):
    """One transaction."""

    @property
    def used_proofs(self) -> UsedProofs:
        """The proofs that were used."""
        ...

    @property
    def audit_log(self) -> AuditLog:
        """The audit log."""
        ...


OpenProofWork: TypeAlias = Callable[[], AbstractAsyncContextManager[ProofUnitOfWork]]
OnUse: TypeAlias = Callable[[ProofUnitOfWork], Awaitable[None]]


class PresentedToken(Struct, frozen=True):
    """A token as a request holds it, with what may prove that its sender holds a key."""

    text: SecretText
    is_dpop: bool = False
    """Whether its scheme is DPoP."""
    proof: PresentedProof = PresentedProof((), "", ())


class ProofGuard(Struct, frozen=True):
    """Checks proofs. A plain token costs it nothing but to see that it is one."""

    open_work: OpenProofWork
    clock: Callable[[], datetime]

    def check(self, presented: PresentedProof) -> DpopProof | ProofInvalid:
        """Check a proof that comes without a token, but not whether it was used before."""
        return check_proof(presented, self.clock())

    async def use(self, proof: DpopProof, on_use: OnUse) -> ProofInvalid | None:
        """Use a proof up; `on_use` runs in the same transaction if it was not used before."""
        async with self.open_work() as work:
            if not await work.used_proofs.use(proof):
                return USED
            await on_use(work)
        return None

    async def refusal(self, presented: PresentedToken, token: VerifiedToken) -> ProofInvalid | None:
        """Refuse a token that is bound to a key and comes without a new proof of it."""
        proof = self.unused(presented, token)
        if not isinstance(proof, DpopProof):
            return proof
        async with self.open_work() as work:
            return None if await work.used_proofs.use(proof) else USED

    def unused(
        self, presented: PresentedToken, token: VerifiedToken
    ) -> DpopProof | ProofInvalid | None:
        """Check the proof of a bound token, but not whether it is new; None for a plain token."""
        bound_to = bound_key(token.claims)
        if not bound_to:
            return _NOT_BOUND if presented.is_dpop else None
        if not presented.is_dpop:
            return _NEEDED
        proof = check_proof(presented.proof, self.clock(), presented.text.reveal())
        if isinstance(proof, ProofInvalid):
            return proof
        return proof if proof.thumbprint == bound_to else _OTHER_KEY
