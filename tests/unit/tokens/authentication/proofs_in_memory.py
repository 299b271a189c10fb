"""A transaction whose used DPoP proofs live in memory."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from mudra.shared.dpop_proof import DpopProof


class ProofsInMemory:
    """Knows the proofs that were used, and how often it was opened; nothing goes to the audit."""

    def __init__(self) -> None:
        self.stored: set[bytes] = set()
        self.opened = 0

    async def use(self, proof: DpopProof) -> bool:
        await asyncio.sleep(0)  # as a database takes its time: others go on meanwhile
        known = proof.use_hash in self.stored
        self.stored.add(proof.use_hash)
        return not known

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator["ProofsInMemory"]:
        self.opened += 1
        yield self
