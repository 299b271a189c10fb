"""Removes a report that cannot be read any more, so that its AA can send it again."""

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from mudra.metrics.payload.catalogue import Tag, hour_start
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.database.transaction import Transaction
from mudra.storage.metrics.blocks.checking import damaged_held, is_damaged
from mudra.storage.metrics.blocks.grain import Grain
from mudra.storage.metrics.stored_report import short_tag
from mudra.storage.tables.metrics import metrics_push, metrics_receipt, metrics_stale
from mudra.storage.tables.metrics_blocks import metrics_block, metrics_block_previous

_B: Final = metrics_block.c
_P: Final = metrics_block_previous.c
_R: Final = metrics_receipt.c


async def remove_damaged_report(tx: Transaction, aa_id: str, tag: Tag, window: datetime) -> bool:
    """Removes all that is known of a report with a damaged block: blocks, versions and receipts.

    The window is one that the AA never reported from then on, and its sums are made again without
    it. Of damaged reports that are held nothing but these goes. Returns False, and changes nothing,
    where none is damaged.
    """
    await tx.lock_name(f"push:{aa_id}")
    short = short_tag(tag)
    receipts = [_R.aa_id == aa_id, _R.tag == short, _R.window_at == window]
    if await is_damaged(tx, aa_id, short, window):
        for c, table in ((_B, metrics_block), (_P, metrics_block_previous)):
            of_report = (c.aa_id == aa_id, c.tag == short, c.at == window)
            await tx.connection.execute(
                sa.delete(table).where(*of_report, c.grain == Grain.WINDOW.value)
            )
    elif held := await damaged_held(tx, aa_id, short, window):
        receipts.append(_R.version.in_(held))
    else:
        return False
    await tx.connection.execute(
        sa.delete(metrics_push).where(
            metrics_push.c.aa_id == aa_id,
            metrics_push.c.receipt_id.in_(sa.select(_R.receipt_id).where(*receipts)),
        )
    )
    await tx.connection.execute(sa.delete(metrics_receipt).where(*receipts))
    marks = [
        ("hour", aa_id, hour_start(window)),
        ("window", aa_id, window),
        ("window", ALL_AAS, window),
    ]
    await tx.connection.execute(
        sa.insert(metrics_stale),
        [{"grain": grain, "aa_id": of, "tag": short, "at": at} for grain, of, at in marks],
    )
    return True
