"""Silences, webhooks with the messages that wait for them, and whether an incident was told."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0041"
down_revision = "0063"
branch_labels = None
depends_on = None


def _id(name: str) -> sa.Column[str]:
    return sa.Column(name, postgresql.UUID(as_uuid=False), nullable=False)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def _at(name: str) -> sa.Column[object]:
    return sa.Column(name, postgresql.TIMESTAMP(timezone=True), nullable=False)


def upgrade() -> None:
    op.add_column(
        "metrics_incident",
        sa.Column("told", sa.Boolean(), nullable=False, server_default=sa.true()),
    )
    op.create_table(
        "health_silence",
        _id("silence_id"),
        _text("entity_id"),
        _text("type"),
        _at("begins"),
        _at("ends"),
        _text("reason"),
        _text("made_by"),
        sa.PrimaryKeyConstraint("silence_id", name=op.f("pk_health_silence")),
    )
    op.create_index("ix_health_silence_ends", "health_silence", ["ends"])
    op.create_table(
        "health_webhook",
        _id("webhook_id"),
        _text("entity_id"),
        _text("url"),
        sa.Column("sealed_secret", sa.LargeBinary(), nullable=False),
        _text("made_by"),
        _at("made_at"),
        sa.Column("delivered_at", postgresql.TIMESTAMP(timezone=True)),
        sa.Column("problem", sa.Text(), nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("webhook_id", name=op.f("pk_health_webhook")),
    )
    op.create_index("ix_health_webhook_entity_id", "health_webhook", ["entity_id"])
    op.create_table(
        "webhook_message",
        _id("message_id"),
        _id("webhook_id"),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        _at("made_at"),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        _at("next_attempt_at"),
        sa.PrimaryKeyConstraint("message_id", name=op.f("pk_webhook_message")),
        sa.ForeignKeyConstraint(
            ["webhook_id"],
            ["health_webhook.webhook_id"],
            name=op.f("fk_webhook_message_webhook_id_health_webhook"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_webhook_message_next_attempt_at", "webhook_message", ["next_attempt_at"])
    op.create_index("ix_webhook_message_webhook_id", "webhook_message", ["webhook_id"])


def downgrade() -> None:
    for table in ("webhook_message", "health_webhook", "health_silence"):
        op.drop_table(table)
    op.drop_column("metrics_incident", "told")
