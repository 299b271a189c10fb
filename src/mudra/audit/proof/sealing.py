"""The sealer's use cases: run by one process at a time, so requests never wait for it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from mudra.audit.audit_chain import AuditChain
from mudra.audit.audit_log_store import AuditLog
from mudra.audit.chain import Checkpoint, CheckpointForged, Epoch, checkpoint_due, enter, seal
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.proof.second_place import compare, next_epoch, to_copy

BATCH = 1000
AT_ONCE = frozenset({EventName.KEYS_SIGNING_DROP})
"""What a restore must know of: the key of a leak would sign again."""


async def seal_next(chain: AuditChain, audit_log: AuditLog, now: datetime) -> int:
    """Seal one batch in order and sign a checkpoint when due; give the rows sealed.

    In another cluster than before (after a restore or a fail-over) it opens the next epoch.
    A row `AT_ONCE` has its checkpoint now.
    """
    head = await chain.ledger.head()
    epochs = await chain.ledger.epochs()
    cluster = await chain.ledger.cluster()
    if not epochs or epochs[-1].cluster != cluster:
        epochs, head = await _enter_cluster(chain, audit_log, head, epochs, cluster, now)
    epoch = epochs[-1].number
    rows = await chain.ledger.next_unsealed(head.count, epoch, BATCH)
    if rows:
        hashes = seal(rows, enter(head.head, [e for e in epochs if e.number > head.epoch]))
        await chain.ledger.keep_seals(rows, hashes)
        head = Checkpoint(head.count + len(rows), hashes[-1], now, epoch)
    last = await chain.checkpoints.last()
    due = checkpoint_due(last, head.count, now) or any(row.event.event in AT_ONCE for row in rows)
    if due or (head.count and last.epoch < epoch):
        await chain.checkpoints.add(Checkpoint(head.count, head.head, now, epoch))
    return len(rows)


async def _enter_cluster(  # what the sealer has just read
    chain: AuditChain,
    audit_log: AuditLog,
    head: Checkpoint,
    epochs: Sequence[Epoch],
    cluster: str,
    now: datetime,
) -> tuple[Sequence[Epoch], Checkpoint]:
    found, number = head.count, 1
    if epochs:
        newest = _newest(chain)
        # The previous cluster is known to have written until then; the rest is of this one.
        until = newest.at if newest else now
        head = await _seal_what_came_along(chain, head, epochs, until)
        number = next_epoch(epochs, [newest] if newest else [])
    opened = Epoch(number, cluster, found, head.count, now)
    await chain.ledger.add_epoch(opened)
    if epochs:
        await _record(audit_log, EventName.AUDIT_EPOCH_OPEN, Caller("system"), opened)
    return [*epochs, opened], head


async def _seal_what_came_along(
    chain: AuditChain, head: Checkpoint, epochs: Sequence[Epoch], until: datetime
) -> Checkpoint:
    """Seal the rows that the previous cluster had written and not yet sealed, as its own."""
    previous = epochs[-1].number
    while rows := await chain.ledger.next_restored(head.count, previous, until, BATCH):
        hashes = seal(rows, enter(head.head, [e for e in epochs if e.number > head.epoch]))
        await chain.ledger.keep_seals(rows, hashes)
        head = Checkpoint(head.count + len(rows), hashes[-1], head.at, previous)
    return head


def _newest(chain: AuditChain) -> Checkpoint | None:
    """Read the newest checkpoint of the second place, as far as it can be read."""
    try:
        return chain.witness.newest()
    except CheckpointForged:  # a verification names it; sealing goes on
        return None


async def confirm_restore(
    chain: AuditChain, audit_log: AuditLog, caller: Caller, now: datetime
) -> Epoch | None:
    """Record that an operator meant a restore: what it took back is no fault from now on.

    Opens an epoch that begins where the database last agreed with the second place. None when
    the second place has no checkpoint that the database lacks.
    """
    witnessed = chain.witness.all()
    stored = await chain.checkpoints.all()
    head = await chain.ledger.head()
    epochs = await chain.ledger.epochs()
    cluster = await chain.ledger.cluster()
    if epochs and epochs[-1].cluster != cluster:
        # The sealer has not run here yet: what came along must be sealed before the new epoch.
        epochs, head = await _enter_cluster(chain, audit_log, head, epochs, cluster, now)
    compared = compare(stored, witnessed, epochs)
    contradicted = len(compared.required) > len(stored)
    if not epochs or not (contradicted or any(not loss.confirmed for loss in compared.losses)):
        return None
    known = set(stored)
    agreed = max((one.count for one in witnessed if one in known), default=0)
    opened = Epoch(
        next_epoch(epochs, witnessed),
        cluster,
        agreed if contradicted else head.count,
        head.count,
        now,
        confirmed_by=caller.actor,
    )
    await chain.ledger.add_epoch(opened)
    await _record(audit_log, EventName.AUDIT_RESTORE_CONFIRM, caller, opened)
    return opened


async def copy_checkpoints(chain: AuditChain) -> bool:
    """Write to this node's second place what it lacks; False when it contradicts the database.

    The second place may be far away, and slow: other work goes on meanwhile.
    """
    newest = await asyncio.to_thread(chain.witness.newest)
    checkpoints = chain.checkpoints
    stored = await (checkpoints.since(newest) if newest else checkpoints.all())
    missing = to_copy(stored, newest, await chain.ledger.epochs())
    if missing is None:
        return False
    wanted, before = set(missing), 0
    for checkpoint in stored:
        if checkpoint in wanted:
            acts = await chain.ledger.acts(before, checkpoint.count)
            await asyncio.to_thread(chain.witness.publish, checkpoint, acts)
        before = checkpoint.count
    return True


async def _record(log: AuditLog, event: EventName, caller: Caller, opened: Epoch) -> None:
    detail: dict[str, str | int] = {
        "epoch": opened.number,
        "cluster": opened.cluster,
        "after": opened.after,
    }
    await log.append(AuditEntry(event, caller, detail=detail))
