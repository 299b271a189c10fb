"""The acts that a restore took back: those that the second place has and the audit lacks."""

from collections.abc import Sequence
from datetime import datetime

from mudra.audit.acts import Act
from mudra.audit.audit_chain import AuditChain


async def lost_acts(chain: AuditChain, since: datetime | None = None) -> Sequence[Act]:
    """List the acts of the second place that the database lacks, in their order; from `since` on.

    What came after the last checkpoint before the loss is not among them, and of a checkpoint
    with more than 200 acts the least important; raises CheckpointForged.
    """
    stored = set(await chain.checkpoints.all())
    candidates = [
        act
        for checkpoint, acts in chain.witness.acts()
        if checkpoint not in stored
        for act in acts.listed
        if since is None or act.at >= since
    ]
    known = await chain.ledger.present([act.row_id for act in candidates])
    return [act for act in candidates if (act.row_id, act.at) not in known]
