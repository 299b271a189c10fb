"""Tables of disputes: what a member contests, each step, its evidence, and the corrections."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID

from mudra.storage.tables.metadata import at, metadata

dispute: Final = sa.Table(
    "dispute",
    metadata,
    sa.Column("dispute_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.Text, sa.ForeignKey("entity.entity_id"), nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("about", sa.Text, nullable=False),
    sa.Column("incident_id", UUID(as_uuid=False)),
    sa.Column("apis", sa.ARRAY(sa.Text), nullable=False, server_default="{}"),
    at("begins"),
    at("ends"),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("raised_by", sa.Text, nullable=False),
    at("raised_at"),
    at("changed_at"),
    at("due_at", nullable=True),
    sa.CheckConstraint("kind IN ('comment', 'dispute')", name="kind"),
    sa.CheckConstraint("about IN ('incident', 'day', 'line')", name="about"),
    sa.Index("ix_dispute_entity_id", "entity_id", "raised_at"),
    sa.Index("ix_dispute_incident_id", "incident_id"),
    sa.Index("ix_dispute_due_at", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
)
"""`due_at` is when the next step must have been taken; none once it is closed."""

dispute_step: Final = sa.Table(
    "dispute_step",
    metadata,
    sa.Column("dispute_id", UUID(as_uuid=False), sa.ForeignKey("dispute.dispute_id")),
    sa.Column("number", sa.Integer, nullable=False),
    at("at"),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("act", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.PrimaryKeyConstraint("dispute_id", "number"),
)
"""One row for each step; `state` is the one after it."""

dispute_evidence: Final = sa.Table(
    "dispute_evidence",
    metadata,
    sa.Column("evidence_id", UUID(as_uuid=False), primary_key=True),
    sa.Column(
        "dispute_id", UUID(as_uuid=False), sa.ForeignKey("dispute.dispute_id"), nullable=False
    ),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("media_type", sa.Text, nullable=False),
    sa.Column("size", sa.Integer, nullable=False),
    sa.Column("sha256", sa.LargeBinary, nullable=False),
    sa.Column("sealed_content", sa.LargeBinary, nullable=False),
    sa.Column("added_by", sa.Text, nullable=False),
    at("added_at"),
    sa.Index("ix_dispute_evidence_dispute_id", "dispute_id"),
)
"""Files, encrypted: they may name customers."""

dispute_correction: Final = sa.Table(
    "dispute_correction",
    metadata,
    sa.Column("correction_id", UUID(as_uuid=False), primary_key=True),
    sa.Column(
        "dispute_id", UUID(as_uuid=False), sa.ForeignKey("dispute.dispute_id"), nullable=False
    ),
    sa.Column("entity_id", sa.Text, sa.ForeignKey("entity.entity_id"), nullable=False),
    sa.Column("api", sa.Text),
    at("begins"),
    at("ends"),
    sa.Column("effect", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("decided_by", sa.Text, nullable=False),
    at("decided_at"),
    at("void_at", nullable=True),
    sa.CheckConstraint("effect IN ('left_out', 'not_against_member')", name="effect"),
    sa.Index("ix_dispute_correction_entity_id", "entity_id", "begins"),
    sa.Index("ix_dispute_correction_dispute_id", "dispute_id"),
)
"""Never deleted: one whose dispute was reopened has a `void_at` from then on."""
