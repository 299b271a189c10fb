"""Tables of service levels: targets, and every version of every report."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, UUID

from mudra.storage.tables.metadata import at, metadata

level_target: Final = sa.Table(
    "level_target",
    metadata,
    sa.Column("target_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("measure", sa.Text, nullable=False),
    sa.Column("api", sa.Text, nullable=False),
    sa.Column("value", sa.Double, nullable=False),
    sa.Column("since", sa.Date, nullable=False),
    sa.Column("until", sa.Date),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    at("made_at"),
    sa.UniqueConstraint("role", "measure", "api", "since"),
)
"""An empty `api` means all of them together."""

level_report: Final = sa.Table(
    "level_report",
    metadata,
    sa.Column("report_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    at("starts"),
    at("ends"),
    sa.Column("version", sa.Integer, nullable=False),
    at("made_at"),
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Column("report", sa.LargeBinary, nullable=False),
    sa.Column("signature", sa.Text, nullable=False),
    sa.Column("key", JSONB, nullable=False),
    sa.Column("evidence", sa.LargeBinary, nullable=False),
    sa.UniqueConstraint("entity_id", "starts", "ends", "version"),
    sa.Index("ix_level_report_starts", "starts", "ends"),
)
"""An empty `entity_id` is the network. `report` has the signed bytes; `evidence` is zlib's."""
