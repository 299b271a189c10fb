"""What is on its way from the metrics to the first database, and what has come there."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

from mudra.storage.database.tables import metadata

handover: Final = sa.Table(
    "handover",
    metadata,
    sa.Column("aa_id", sa.Text, primary_key=True),
    sa.Column("handover_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("noted_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Index("ix_handover_noted_at", "noted_at"),
)
"""In the database of the metrics, where they are apart: see handover.py."""

handover_done: Final = sa.Table(
    "handover_done",
    metadata,
    sa.Column("handover_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("done_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)
"""In the first database: what was carried over, so that a repeat does nothing."""
