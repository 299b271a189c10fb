"""Tables of secrets, tokens, signing keys, reminders, counts, used proofs, and faults."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, UUID

from mudra.storage.tables.identity import entity, user_account
from mudra.storage.tables.metadata import at, metadata

entity_secret: Final = sa.Table(
    "entity_secret",
    metadata,
    sa.Column("entity_id", sa.ForeignKey(entity.c.entity_id), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("mac", sa.LargeBinary, nullable=False),
    sa.Column("sealed", sa.LargeBinary),
    at("created_at"),
    at("expires_at"),
    at("grace_until", nullable=True),
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
    sa.Column("user_id", sa.ForeignKey(user_account.c.user_id), nullable=False, index=True),
    at("issued_at"),
    at("expires_at"),
    at("revoked_at", nullable=True),
)


revoked_entity_token: Final = sa.Table(
    "revoked_entity_token",
    metadata,
    sa.Column("jti", sa.Text, primary_key=True),
    sa.Column("entity_id", sa.Text, nullable=False),
    at("revoked_at"),
    sa.Column("expires_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)


signing_key: Final = sa.Table(
    "signing_key",
    metadata,
    sa.Column("kid", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("public_jwk", JSONB, nullable=False),
    sa.Column("sealed_private", sa.LargeBinary),
    at("created_at"),
    at("active_from", nullable=True),
    at("retires_at", nullable=True),
    at("revoked_at", nullable=True),
    # Of another issuer, whose public key was imported; it has no private part here.
    sa.Column("issuer", sa.Text, nullable=False, server_default=""),
    sa.CheckConstraint("issuer = '' OR sealed_private IS NULL", name="imported"),
)


secret_reminder: Final = sa.Table(
    "secret_reminder",
    metadata,
    sa.Column("entity_id", sa.ForeignKey(entity.c.entity_id), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("mark", sa.SmallInteger, primary_key=True),
    at("done_at"),
    sa.Column("sent", sa.Boolean, nullable=False),
)

# No foreign key to the secret: the hot path's batches must not wait for a reset.
secret_use: Final = sa.Table(
    "secret_use",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("address", sa.Text, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
    sa.Column("count_in_grace", sa.BigInteger, nullable=False),
    at("last_used_at"),
)

# No foreign key to the entity: the hot path's batches must not wait for its lock.
token_day: Final = sa.Table(
    "token_day",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("day", sa.Date, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
)

key_fetch: Final = sa.Table(
    "key_fetch",
    metadata,
    sa.Column("kid", sa.ForeignKey("signing_key.kid"), primary_key=True),
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("count", sa.BigInteger, nullable=False),
    at("first_at"),
    at("last_at"),
)

used_assertion: Final = sa.Table(
    "used_assertion",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    sa.Column("jti", sa.Text, primary_key=True),
    sa.Column("expires_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)

# The hash of key and `jti`: a proof is used once, on whichever node.
used_proof: Final = sa.Table(
    "used_proof",
    metadata,
    sa.Column("proof_hash", sa.LargeBinary, primary_key=True),
    sa.Column("expires_at", TIMESTAMP(timezone=True), nullable=False, index=True),
)

# Of a sandbox alone: elsewhere it stays empty.
sandbox_fault: Final = sa.Table(
    "sandbox_fault",
    metadata,
    sa.Column("fault_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.ForeignKey(entity.c.entity_id), nullable=False, index=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("seconds", sa.Integer, nullable=False),
    at("starts_at"),
    sa.Column("ends_at", TIMESTAMP(timezone=True), nullable=False, index=True),
    sa.Column("set_by", sa.Text, nullable=False),
    sa.Column("by_operator", sa.Boolean, nullable=False),
    sa.Column("kid", sa.Text, nullable=False),
    sa.Column("public_jwk", JSONB),
    sa.Column("sealed_private", sa.LargeBinary),
)
