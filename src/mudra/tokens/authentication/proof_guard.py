"""Accept each DPoP proof once, on whichever node (RFC 9449 11.1)."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final, TypeAlias

from msgspec import Struct

from mudra.shared.dpop_proof import DpopProof, PresentedProof, ProofInvalid, bound_key, check_proof
from mudra.shared.refusal import WAIT_TEXT, Refusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.storage.database.transaction import OpenTransaction, Transaction
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.authentication.used_proof_store import UsedProofs

USED: Final = ProofInvalid("it was used before: make one for each request")
_NEEDED: Final = ProofInvalid(
    "the token is bound to a key: send it as Authorization: DPoP, with a proof"
)
_NOT_BOUND: Final = ProofInvalid("the token is not bound to a key: send it as Bearer")
_OTHER_KEY: Final = ProofInvalid("jwk is not the key that the token is bound to")


class TooManyProofs(Refusal, frozen=True):
    """More proofs of one entity than are stored; try again after `retry_after_s` seconds."""

    kind = RefusalKind.LIMITED
    sentence = f"too many DPoP proofs of this entity; {WAIT_TEXT}"
    retry_after_s: int


OnUse: TypeAlias = Callable[[Transaction], Awaitable[None]]


async def nothing_more(_: Transaction) -> None:
    """Do nothing but use the proof up."""


class PresentedToken(Struct, frozen=True):
    """A token as a request holds it, with what may prove that its sender holds a key."""

    text: SecretText
    is_dpop: bool = False
    """Whether its scheme is DPoP."""
    proof: PresentedProof = PresentedProof((), "", ())


class ProofGuard(Struct, frozen=True):
    """Checks proofs. A plain token costs it nothing but to see that it is one.

    `rate` bounds the proofs that are stored for each entity, however many keys it has.
    """

    open_transaction: OpenTransaction
    clock: Callable[[], datetime]
    rate: KeyedRateLimit
    used_proofs: Callable[[Transaction], UsedProofs] = UsedProofs

    def check(self, presented: PresentedProof) -> DpopProof | ProofInvalid:
        """Check a proof that comes without a token, but not whether it was used before."""
        return check_proof(presented, self.clock())

    async def use(
        self, entity_id: str, proof: DpopProof, on_use: OnUse = nothing_more
    ) -> ProofInvalid | TooManyProofs | None:
        """Use an entity's proof up; `on_use` runs in the same transaction if it was accepted."""
        limited = self._limited(entity_id)
        if limited is not None:
            return limited
        async with self.open_transaction() as tx:
            refused = await self.store(entity_id, proof, self.used_proofs(tx))
            if refused is None:
                await on_use(tx)
        return refused

    async def store(
        self, entity_id: str, proof: DpopProof, used: UsedProofs
    ) -> ProofInvalid | TooManyProofs | None:
        """Store that an entity used a proof; refuse one that it did before, and one too many.

        Only what is stored counts: who copied a request takes nothing of its sender's limit. What
        passes at the same moment counts too, and is waited for afterwards.
        """
        limited = self._limited(entity_id)
        if limited is not None:
            return limited
        if not await used.use(proof):
            return USED
        self.rate.count(entity_id)
        return None

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

    def _limited(self, entity_id: str) -> TooManyProofs | None:
        wait_s = self.rate.next_wait_s(entity_id)
        return TooManyProofs(wait_s) if wait_s else None
