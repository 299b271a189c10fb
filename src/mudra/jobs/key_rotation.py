"""Rotates signing keys, on a schedule and before the first start."""

import os
from collections.abc import Sequence

from mudra.audit.event import Caller
from mudra.identity.accounts.people_store import People
from mudra.storage.database.transaction import OpenTransaction
from mudra.tokens.signing_keys.signing_key_service import KEY_CHANGE_S, KeyChange, SigningKeyService


async def maintain_keys(transaction: OpenTransaction) -> Sequence[KeyChange]:
    """Creates, activates, retires and destroys signing keys that are due."""
    async with transaction(within_s=KEY_CHANGE_S) as tx:
        caller = Caller(f"system:{os.uname().nodename}")
        return await tx.service(SigningKeyService).maintain(caller, await People(tx).now())
