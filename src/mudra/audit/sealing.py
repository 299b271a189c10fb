"""The sealer's one use case: run by one process at a time, so requests never wait for it."""

from datetime import datetime

from mudra.audit.chain import Checkpoint, checkpoint_due, seal
from mudra.audit.ports import Ledger, Witness

BATCH = 1000


async def seal_next(ledger: Ledger, witness: Witness, now: datetime) -> int:
    """Seal one batch in order and publish a checkpoint when due; give the rows sealed."""
    head = await ledger.head()
    rows = await ledger.next_unsealed(head.count, BATCH)
    if rows:
        hashes = seal(rows, head.head)
        await ledger.keep_seals(rows, hashes)
        head = Checkpoint(head.count + len(rows), hashes[-1], now)
    if checkpoint_due(await witness.last(), head.count, now):
        await witness.publish(Checkpoint(head.count, head.head, now))
    return len(rows)
