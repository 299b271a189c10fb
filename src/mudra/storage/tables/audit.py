"""Tables of the audit chain and of token issues, next to the events themselves."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP

from mudra.storage.tables.metadata import at, metadata

audit_event: Final = sa.Table(
    "audit_event",
    metadata,
    sa.Column("seq", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    at("at"),
    sa.Column("event", sa.Text, nullable=False),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("actor", sa.Text, nullable=False),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("txn_id", sa.Text, nullable=False),
    sa.Column("reason", sa.Text, nullable=False),
    sa.Column("detail", JSONB, nullable=False),
    sa.Index("ix_audit_event_entity", "entity_id", "seq"),
    sa.Index(
        "ix_audit_event_status_change",
        *("entity_id", "seq"),
        postgresql_where=sa.text("event = 'entity:status:change'"),
    ),
)


audit_seal: Final = sa.Table(
    "audit_seal",
    metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("seq", sa.ForeignKey("audit_event.seq"), nullable=False, unique=True),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("hash", sa.LargeBinary, nullable=False),
)

audit_epoch: Final = sa.Table(
    "audit_epoch",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("cluster", sa.Text, nullable=False),
    sa.Column("found", sa.BigInteger, nullable=False),
    sa.Column("after", sa.BigInteger, nullable=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("confirmed_by", sa.Text, nullable=False),
    sa.Column("mac", sa.LargeBinary, nullable=False),
)

audit_checkpoint: Final = sa.Table(
    "audit_checkpoint",
    metadata,
    sa.Column("epoch", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("count", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("head", sa.LargeBinary, nullable=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("mac", sa.LargeBinary, nullable=False),
)

audit_anonymous: Final = sa.Table(
    "audit_anonymous",
    metadata,
    sa.Column("minute", TIMESTAMP(timezone=True), primary_key=True),
    sa.Column("address", sa.Text, primary_key=True),
    sa.Column("event", sa.Text, primary_key=True),
    sa.Column("reason", sa.Text, primary_key=True),
    sa.Column("outcome", sa.Text, nullable=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("first_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("last_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("txn_id", sa.Text, nullable=False),
)

audit_refused: Final = sa.Table(
    "audit_refused",
    metadata,
    sa.Column("minute", TIMESTAMP(timezone=True), primary_key=True),
    sa.Column("actor", sa.Text, primary_key=True),
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("user_id", sa.Text, primary_key=True),
    sa.Column("event", sa.Text, primary_key=True),
    sa.Column("reason", sa.Text, primary_key=True),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("txn_id", sa.Text, nullable=False),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("first_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("last_at", TIMESTAMP(timezone=True), nullable=False),
)

audit_token_issue: Final = sa.Table(
    "audit_token_issue",
    metadata,
    # Of the series of `audit_event`: a search shows both in one order.
    sa.Column(
        "seq",
        sa.BigInteger,
        server_default=sa.text("nextval('audit_event_seq_seq'::regclass)"),
        primary_key=True,
    ),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("entity_id", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    sa.Column("txn_id", sa.Text, nullable=False),
    sa.Column("credential", sa.Text, nullable=False),
    sa.Column("version", sa.Integer, nullable=False),
    sa.Column("jtis", sa.Text, nullable=False),
)

audit_token_block: Final = sa.Table(
    "audit_token_block",
    metadata,
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("first_seq", sa.BigInteger, nullable=False),
    sa.Column("last_seq", sa.BigInteger, nullable=False),
    sa.Column("first_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("last_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("entities", ARRAY(sa.Text), nullable=False),
    sa.Column("marks", ARRAY(sa.Integer), nullable=False),
    sa.Column("data", sa.LargeBinary, nullable=False),
    sa.Index("ix_audit_token_block_last_seq", "last_seq"),
    sa.Index(
        "ix_audit_token_block_entities",
        "entities",
        postgresql_using="gin",
        # A block is added at once: a list of what is pending costs five times the index.
        postgresql_with={"fastupdate": "off"},
    ),
)

audit_token_drop: Final = sa.Table(
    "audit_token_drop",
    metadata,
    sa.Column("until", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("mac", sa.LargeBinary, nullable=False),
)

audit_archive: Final = sa.Table(
    "audit_archive",
    metadata,
    sa.Column("until", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("epoch", sa.Integer, nullable=False),
    sa.Column("head", sa.LargeBinary, nullable=False),
    sa.Column("sealed_at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("last_block", sa.BigInteger, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("sha256", sa.Text, nullable=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False),
    sa.Column("mac", sa.LargeBinary, nullable=False),
)
