"""The table of announcements on the public status."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, UUID

from mudra.storage.tables.metadata import at, metadata

status_announcement: Final = sa.Table(
    "status_announcement",
    metadata,
    sa.Column("announcement_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("translations", JSONB, nullable=False, server_default="[]"),
    sa.Column("fip_ids", sa.ARRAY(sa.Text), nullable=False, server_default="{}"),
    at("publish_at"),
    at("begins", nullable=True),
    at("ends", nullable=True),
    sa.Column("made_by", sa.Text, nullable=False),
    at("made_at"),
    at("changed_at", nullable=True),
    at("ended_at", nullable=True),
    at("over_at", nullable=True),
    sa.Column("incident_id", UUID(as_uuid=False)),
    sa.Column("updates", JSONB, nullable=False, server_default="[]"),
    sa.Column("after", UUID(as_uuid=False)),
    sa.Column("done", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.CheckConstraint("kind IN ('information', 'incident', 'maintenance')", name="kind"),
    sa.Index("ix_status_announcement_publish_at", "publish_at"),
)
"""Without FIPs of the whole network. `over_at` is the earlier of both ends.

`after` and `done` say how far its emails are. The incident may be gone: no key refers to it.
"""
