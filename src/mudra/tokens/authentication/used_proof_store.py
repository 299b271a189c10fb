"""DPoP proofs that were used: implements tokens/authentication/proof_guard.py UsedProofs."""

from typing import Final

from sqlalchemy.dialects.postgresql import insert

from mudra.shared.dpop_proof import DpopProof
from mudra.storage.database.transaction import Transaction
from mudra.storage.tables.tokens import used_proof

_USE: Final = insert(used_proof).on_conflict_do_nothing().returning(used_proof.c.expires_at)


class UsedProofs:
    """Implements `UsedProofs`."""

    def __init__(self, transaction: Transaction) -> None:
        self._tx = transaction

    async def use(self, proof: DpopProof) -> bool:
        """Store that a proof is used; False when it was already."""
        stored = await self._tx.connection.scalar(
            _USE, {"proof_hash": proof.use_hash, "expires_at": proof.expires_at}
        )
        return stored is not None
