"""Tables of alarms: silences, webhooks and the messages that wait for them."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

from mudra.storage.database.tables import metadata

health_silence: Final = sa.Table(
    "health_silence",
    metadata,
    sa.Column("silence_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("begins", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("ends", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Index("ix_health_silence_ends", "ends"),
)
"""An empty entity or type means all."""

health_webhook: Final = sa.Table(
    "health_webhook",
    metadata,
    sa.Column("webhook_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("sealed_secret", sa.LargeBinary, nullable=False),
    sa.Column("made_by", sa.Text, nullable=False),
    sa.Column("made_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("delivered_at", TIMESTAMP(timezone=True)),
    sa.Column("problem", sa.Text, nullable=False, server_default=""),
    sa.Index("ix_health_webhook_entity_id", "entity_id"),
)
"""An empty entity means the whole network."""

webhook_message: Final = sa.Table(
    "webhook_message",
    metadata,
    sa.Column("message_id", UUID(as_uuid=False), primary_key=True),
    sa.Column(
        "webhook_id",
        sa.ForeignKey("health_webhook.webhook_id", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("made_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    sa.Column("next_attempt_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Index("ix_webhook_message_next_attempt_at", "next_attempt_at"),
    sa.Index("ix_webhook_message_webhook_id", "webhook_id"),
)
"""Messages to deliver; a message that was delivered or given up is deleted."""
