"""Tables of subscriptions to the public status."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import UUID

from mudra.storage.tables.metadata import at, metadata

status_subscription: Final = sa.Table(
    "status_subscription",
    metadata,
    sa.Column("subscription_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("fip_id", sa.Text, nullable=False),
    sa.Column("language", sa.Text, nullable=False),
    sa.Column("token_hash", sa.LargeBinary, nullable=False, unique=True),
    sa.Column("sealed_token", sa.LargeBinary, nullable=False),
    sa.Column("waits", sa.Boolean, nullable=False),
    sa.Column("confirmations", sa.Integer, nullable=False, server_default="0"),
    at("asked_at"),
    at("mailed_at", nullable=True),
    at("confirmed_at", nullable=True),
    sa.Column("url", sa.Text, nullable=False, server_default=""),
    sa.Column("host", sa.Text, nullable=False, server_default=""),
    at("opted_at", nullable=True),
    sa.UniqueConstraint("email", "fip_id", "url"),
    sa.Index("ix_status_subscription_host", "host"),
    sa.Index("ix_status_subscription_asked", "asked_at"),
    sa.Index("ix_status_subscription_fip", "fip_id", "subscription_id"),
)
"""An empty FIP means all institutions. `waits` until a job has looked at the request.

With a URL by webhook: confirmed at `opted_at` by email, at `confirmed_at` by the URL itself.
"""

status_challenge: Final = sa.Table(
    "status_challenge",
    metadata,
    sa.Column("challenge_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("email", sa.Text, nullable=False),
    sa.Column("host", sa.Text, nullable=False),
    at("at"),
    sa.Index("ix_status_challenge_at", "at"),
)
"""The challenges of a day: their number is limited."""

status_news: Final = sa.Table(
    "status_news",
    metadata,
    sa.Column("incident_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("fip_id", sa.Text, nullable=False),
    sa.Column("codes", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    at("began"),
    at("ended", nullable=True),
    at("at"),
    sa.Column("after", UUID(as_uuid=False)),
    sa.Column("done", sa.Boolean, nullable=False),
    sa.CheckConstraint("state IN ('open', 'over')", name="state"),
)
"""The state of each incident that was announced last, and how far its emails are."""
