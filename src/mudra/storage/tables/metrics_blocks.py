"""The tables of metrics blocks: many cells in one row, as columns (metrics/sums/block_bytes.py).

`metrics_block` has the reports and all sums that are made of them. It is partitioned by grain, then
by time: windows by day, hours by month, days by year (storage/metrics/partitions.py), so that
retention drops tables instead of deleting rows.
"""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

from mudra.storage.tables.metadata import metadata


def _block_columns() -> list[sa.Column[object]]:
    return [
        sa.Column("aa_id", sa.Text, nullable=False),
        sa.Column("grain", sa.Text, nullable=False),
        sa.Column("bucket", sa.SmallInteger, nullable=False),
        sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
        sa.Column("until", TIMESTAMP(timezone=True), nullable=False),
        sa.Column("tag", sa.Text, nullable=False),
        sa.Column("version", UUID(as_uuid=True), nullable=False),
        sa.Column("numbers", sa.LargeBinary, nullable=False),
        sa.Column("times", sa.LargeBinary, nullable=False),
    ]


_UNSETTLED: Final = (
    "grain <> 'window' AND tag IN ('req', 'not')"
    " AND until - at <= CASE grain WHEN 'hour' THEN interval '1 hour' ELSE interval '1 day' END"
)
UNSETTLED: Final = sa.text(_UNSETTLED)
"""Matches sums that are laid out by time, in the words of their index.

What is derived of sums is not among them: no one asks for it by FIP.
"""

metrics_block: Final = sa.Table(
    "metrics_block",
    metadata,
    *_block_columns(),
    sa.PrimaryKeyConstraint("aa_id", "grain", "bucket", "at", "tag"),
    sa.CheckConstraint("grain IN ('window', 'hour', 'day')", name="grain"),
    sa.Index("ix_metrics_block_at", "at", "grain", "aa_id"),
    sa.Index("ix_metrics_block_unsettled", "at", postgresql_where=UNSETTLED),
    postgresql_partition_by="LIST (grain)",
)
"""An empty `aa_id` means all AAs together; the tag `all` means all calls of a pair, without times.

`at` is the first time in the block and `until` the end of the last one; `version` is new whenever
the row is written.
"""

metrics_block_previous: Final = sa.Table(
    "metrics_block_previous",
    metadata,
    *_block_columns(),
    sa.Column("report_version", sa.Integer, nullable=False),
    sa.PrimaryKeyConstraint("aa_id", "grain", "bucket", "at", "tag", "report_version"),
    postgresql_partition_by="RANGE (at)",
)
"""The blocks of reports that were replaced, with the version of their receipt."""
