"""Ends disputes whose member did not answer in time, and says where the operator is late."""

from typing import Final

from mudra.disputes.dispute_service import DisputeService
from mudra.identity.accounts.people_store import People
from mudra.storage.database.transaction import OpenTransaction

_AT_ONCE: Final = 100


async def pass_deadlines(open_transaction: OpenTransaction) -> None:
    """Act on every deadline of a dispute that has passed, each in a transaction of its own."""
    async with open_transaction() as tx:
        late = await tx.service(DisputeService).late(await People(tx).now(), _AT_ONCE)
    for dispute_id in late:
        async with open_transaction() as tx:
            now = await People(tx).now()
            await tx.service(DisputeService).pass_deadline(dispute_id, now)
