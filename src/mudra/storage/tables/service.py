"""Tables of the service itself: its nodes and jobs, emails to be sent, sealed keys."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import TIMESTAMP, UUID

from mudra.storage.tables.metadata import at, metadata

sealed_key: Final = sa.Table(
    "sealed_key",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    at("created_at"),
)

mail_outbox: Final = sa.Table(
    "mail_outbox",
    metadata,
    sa.Column("mail_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("recipient", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("sealed_email", sa.LargeBinary, nullable=False),
    sa.Column("created_at", TIMESTAMP(timezone=True), nullable=False, index=True),
    at("sent_at", nullable=True),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    at("next_attempt_at", nullable=True),
    sa.Column("last_error", sa.Text),
    at("taken_until", nullable=True),
    sa.Index("mail_unsent", "next_attempt_at", postgresql_where=sa.text("sent_at IS NULL")),
)
"""Until `taken_until`, by the database's own time, which no sandbox moves, one node sends it."""


node: Final = sa.Table(
    "node",
    metadata,
    sa.Column("node_id", UUID(as_uuid=False), primary_key=True),
    at("proven_at"),
)

service_fact: Final = sa.Table(
    "service_fact",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)

job_run: Final = sa.Table(
    "job_run",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    # The time slot of the last run that succeeded: a slot is run once in the network.
    at("slot", nullable=True),
    at("started_at", nullable=True),
    at("finished_at", nullable=True),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
)
