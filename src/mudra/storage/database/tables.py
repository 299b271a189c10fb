"""Tables of identity and tokens, as SQLAlchemy Core sees them.

The migrations make them; a test proves that both agree.
"""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, UUID

metadata: Final = sa.MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _at(name: str, *, nullable: bool = False) -> sa.Column[object]:
    return sa.Column(name, TIMESTAMP(timezone=True), nullable=nullable)


entity: Final = sa.Table(
    "entity",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False, server_default="active"),
    _at("created_at"),
    # `membership` is the operator's word on the member; `status` is that, or what the
    # registry entry says where it is less: the one that everything else reads (0031).
    sa.Column("membership", sa.Text, nullable=False, server_default="active"),
    _at("tokens_not_before", nullable=True),
    sa.Column("address_binding", sa.Text, nullable=False, server_default="network"),
    # An operator's exemption, which is there again when the member's own binding ends (0108).
    sa.Column("address_exempt", sa.Boolean, nullable=False, server_default=sa.false()),
    # None where a command on the service's machine did it.
    sa.Column("onboarded_by", UUID(as_uuid=False)),
    sa.CheckConstraint("type IN ('FIP', 'FIU', 'AA')", name="type"),
    sa.CheckConstraint("status IN ('active', 'suspended', 'retired')", name="status"),
    sa.CheckConstraint("membership IN ('active', 'suspended', 'retired')", name="membership"),
    sa.CheckConstraint(
        "address_binding IN ('network', 'watch', 'enforce')", name="address_binding"
    ),
)

user_account: Final = sa.Table(
    "user_account",
    metadata,
    sa.Column("user_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("email", sa.Text, nullable=False, unique=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("password_hash", sa.Text),
    _at("created_at"),
    _at("password_set_at", nullable=True),
    sa.Column("language", sa.Text, nullable=False, server_default=""),
    sa.Column("display_zone", sa.Text, nullable=False, server_default="browser"),
    sa.CheckConstraint("state IN ('invited', 'active', 'disabled')", name="state"),
)

entity_admin: Final = sa.Table(
    "entity_admin",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True, index=True),
    _at("since"),
)

entity_reader: Final = sa.Table(
    "entity_reader",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), primary_key=True, index=True),
    _at("since"),
)

email_link: Final = sa.Table(
    "email_link",
    metadata,
    sa.Column("token_hash", sa.LargeBinary, primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False, index=True),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("address", sa.Text, nullable=False),
    _at("created_at"),
    _at("expires_at"),
    _at("used_at", nullable=True),
    _at("voided_at", nullable=True),
)

throttle: Final = sa.Table(
    "throttle",
    metadata,
    sa.Column("account_key", sa.LargeBinary, primary_key=True),
    sa.Column("failures", sa.Integer, nullable=False),
    _at("last_failure_at", nullable=True),
)

address_failure: Final = sa.Table(
    "address_failure",
    metadata,
    sa.Column("id", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    sa.Column("address_key", sa.LargeBinary, nullable=False),
    _at("at"),
    sa.Index("ix_address_failure_key_at", "address_key", "at"),
)

entity_secret: Final = sa.Table(
    "entity_secret",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("mac", sa.LargeBinary, nullable=False),
    sa.Column("sealed", sa.LargeBinary),
    _at("created_at"),
    _at("expires_at"),
    _at("grace_until", nullable=True),
    sa.Column("grace_days", sa.SmallInteger, nullable=False, server_default="0"),
    sa.CheckConstraint("state IN ('current', 'grace', 'ended')", name="state"),
    sa.CheckConstraint("grace_days BETWEEN 0 AND 7", name="grace_days"),
    sa.CheckConstraint("expires_at <= created_at + interval '180 days'", name="expiry"),
    sa.Index(
        "one_current_secret",
        "entity_id",
        unique=True,
        postgresql_where=sa.text("state = 'current'"),
    ),
    sa.Index(
        "one_grace_secret", "entity_id", unique=True, postgresql_where=sa.text("state = 'grace'")
    ),
)

user_token: Final = sa.Table(
    "user_token",
    metadata,
    sa.Column("jti", UUID(as_uuid=False), primary_key=True),
    sa.Column("user_id", sa.ForeignKey("user_account.user_id"), nullable=False, index=True),
    _at("issued_at"),
    _at("expires_at"),
    _at("revoked_at", nullable=True),
)

revoked_entity_token: Final = sa.Table(
    "revoked_entity_token",
    metadata,
    sa.Column("jti", sa.Text, primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    _at("revoked_at"),
    sa.Column("expires_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)

signing_key: Final = sa.Table(
    "signing_key",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("public_jwk", JSONB, nullable=False),
    sa.Column("sealed_private", sa.LargeBinary),
    _at("created_at"),
    _at("active_from", nullable=True),
    _at("retires_at", nullable=True),
    _at("revoked_at", nullable=True),
    # Of another issuer, whose public key was imported; it has no private part here.
    sa.Column("issuer", sa.Text, nullable=False, server_default=""),
    sa.CheckConstraint("issuer = '' OR sealed_private IS NULL", name="imported"),
)

sealed_key: Final = sa.Table(
    "sealed_key",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("sealed", sa.LargeBinary, nullable=False),
    _at("created_at"),
)

mail_outbox: Final = sa.Table(
    "mail_outbox",
    metadata,
    sa.Column("mail_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("recipient", sa.Text, nullable=False),
    sa.Column("subject", sa.Text, nullable=False),
    sa.Column("sealed_email", sa.LargeBinary, nullable=False),
    sa.Column("created_at", TIMESTAMP(timezone=True), nullable=False, index=True),
    _at("sent_at", nullable=True),
    sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
    _at("next_attempt_at", nullable=True),
    sa.Column("last_error", sa.Text),
    _at("taken_until", nullable=True),
    sa.Index("mail_unsent", "next_attempt_at", postgresql_where=sa.text("sent_at IS NULL")),
)
"""Until `taken_until`, by the database's own time, which no sandbox moves, one node sends it."""

audit_event: Final = sa.Table(
    "audit_event",
    metadata,
    sa.Column("seq", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _at("at"),
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

node: Final = sa.Table(
    "node",
    metadata,
    sa.Column("node_id", UUID(as_uuid=False), primary_key=True),
    _at("proven_at"),
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
    _at("slot", nullable=True),
    _at("started_at", nullable=True),
    _at("finished_at", nullable=True),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0"),
    sa.Column("error", sa.Text, nullable=False, server_default=""),
)
