"""Tables of alarms: silences, webhooks, emails, and what waits of both."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, TIMESTAMP, UUID

from mudra.storage.tables.identity import entity, user_account
from mudra.storage.tables.metadata import metadata

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
    sa.Column("peer_id", sa.Text, nullable=False, server_default=""),
    sa.Column("maintenance", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("ended_by", sa.Text, nullable=False, server_default=""),
    sa.Column("announced_at", TIMESTAMP(timezone=True)),
    sa.Index("ix_health_silence_ends", "ends"),
)
"""An empty entity or type means all; with a peer, the path between the two alone.

With `maintenance` nothing is evaluated about the entity. `ended_by` is empty for one that ends by
itself.
"""

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
    sa.Column("fips", ARRAY(sa.Text), nullable=False, server_default="{}"),
    sa.Column("format", sa.Text, nullable=False, server_default="standard"),
    sa.Column("user_id", sa.ForeignKey(user_account.c.user_id)),
    sa.Column("sealed_previous", sa.LargeBinary),
    sa.Column("previous_until", TIMESTAMP(timezone=True)),
    sa.Column(
        "subscription_id",
        sa.ForeignKey("status_subscription.subscription_id", ondelete="CASCADE"),
    ),
    sa.Column("failing_since", TIMESTAMP(timezone=True)),
    sa.Column("gave_up_at", TIMESTAMP(timezone=True)),
    sa.Column("warned_at", TIMESTAMP(timezone=True)),
    sa.CheckConstraint("format IN ('standard', 'slack', 'teams')", name="format"),
    sa.CheckConstraint("user_id IS NULL OR entity_id = ''", name="owner"),
    sa.Index("ix_health_webhook_entity_id", "entity_id"),
    sa.Index(
        "health_webhook_of_person",
        "user_id",
        unique=True,
        postgresql_where=sa.text("user_id IS NOT NULL"),
    ),
    sa.Index(
        "health_webhook_of_subscription",
        "subscription_id",
        unique=True,
        postgresql_where=sa.text("subscription_id IS NOT NULL"),
    ),
)
"""An empty entity means the whole network, the person of `user_id`, or a public subscription.

A FIU's names FIPs. The times of failures are of subscriptions only.
"""

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
    sa.Column("taken_until", TIMESTAMP(timezone=True)),
    sa.Column("event", sa.Text, nullable=False, server_default=""),
    sa.Index("ix_webhook_message_next_attempt_at", "next_attempt_at"),
    sa.Index("ix_webhook_message_webhook_id", "webhook_id"),
)
"""Messages to deliver; a message that was delivered or given up is deleted.

Until `taken_until` one node delivers it: the database's own time, which the sandbox does not move.
"""

webhook_event: Final = sa.Table(
    "webhook_event",
    metadata,
    sa.Column("message_id", UUID(as_uuid=False), primary_key=True),
    sa.Column(
        "webhook_id",
        sa.ForeignKey("health_webhook.webhook_id", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("made_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("attempts", sa.Integer, nullable=False),
    sa.Column("over_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Index("ix_webhook_event_webhook_id", "webhook_id", "over_at"),
)
"""The latest messages of each webhook of alarms that are over, to be sent again.

Without a problem it was delivered.
"""

webhook_attempt: Final = sa.Table(
    "webhook_attempt",
    metadata,
    sa.Column("message_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column(
        "webhook_id",
        sa.ForeignKey("health_webhook.webhook_id", ondelete="CASCADE"),
        nullable=False,
    ),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("problem", sa.Text, nullable=False),
    sa.Index("ix_webhook_attempt_webhook_id", "webhook_id", "at"),
)
"""The latest deliveries and failures of each webhook; without a problem it was delivered."""

_SEVERITIES: Final = "('minor', 'major', 'critical')"

alarm_preference: Final = sa.Table(
    "alarm_preference",
    metadata,
    sa.Column("user_id", sa.ForeignKey(user_account.c.user_id), primary_key=True),
    sa.Column("time_zone", sa.Text, nullable=False),
    sa.Column("quiet_from", sa.Time),
    sa.Column("quiet_until", sa.Time),
    sa.Column("breaks_quiet", sa.Text),
    sa.Column("of_members", sa.Text),
    sa.Column("of_network", sa.Text),
    sa.Column("channel", sa.Text, nullable=False, server_default="email"),
    sa.Column("apis", sa.ARRAY(sa.Text), nullable=False, server_default="{}"),
    sa.Column("level_reports", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.CheckConstraint("channel IN ('email', 'webhook', 'both', 'none')", name="channel"),
    sa.CheckConstraint(f"breaks_quiet IN {_SEVERITIES}", name="breaks_quiet"),
    sa.CheckConstraint(f"of_members IN {_SEVERITIES}", name="of_members"),
    sa.CheckConstraint(f"of_network IN {_SEVERITIES}", name="of_network"),
)
"""What a person wants alarms about, how and when; a null severity for none."""

alarm_mail: Final = sa.Table(
    "alarm_mail",
    metadata,
    sa.Column("user_id", sa.ForeignKey(user_account.c.user_id), primary_key=True),
    sa.Column("incident_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("severity", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("over", sa.Boolean, nullable=False),
    sa.Column("notified_at", TIMESTAMP(timezone=True)),
    sa.Column("in_storm", sa.Boolean, nullable=False, server_default=sa.false()),
    sa.Column("due_at", TIMESTAMP(timezone=True)),
    sa.Column("page", sa.Text, nullable=False, server_default=""),
    sa.Index("ix_alarm_mail_notified_at", "user_id", "notified_at"),
    sa.Index("alarm_mail_waits", "due_at", postgresql_where=sa.text("due_at IS NOT NULL")),
)
"""What a reader knows of an incident, and until when an alarm about it waits for them.

One with a `page` is about something else that this page shows, such as an error budget."""

followed_fip: Final = sa.Table(
    "followed_fip",
    metadata,
    sa.Column("entity_id", sa.ForeignKey(entity.c.entity_id), primary_key=True),
    sa.Column("fip_id", sa.Text, primary_key=True),
    sa.Index("ix_followed_fip_fip_id", "fip_id"),
)
"""The FIPs of a FIU's health page and alarms."""
