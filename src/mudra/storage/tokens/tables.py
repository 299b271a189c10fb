"""Tables of secret uses, reminders, token counts, key fetches, used proofs, and faults."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, UUID

from mudra.storage.database.tables import metadata


def _at(name: str) -> sa.Column[object]:
    return sa.Column(name, TIMESTAMP(timezone=True), nullable=False)


secret_reminder: Final = sa.Table(
    "secret_reminder",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), primary_key=True),
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("mark", sa.SmallInteger, primary_key=True),
    _at("done_at"),
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
    _at("last_used_at"),
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
    _at("first_at"),
    _at("last_at"),
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
    sa.Column("entity_id", sa.ForeignKey("entity.entity_id"), nullable=False, index=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("seconds", sa.Integer, nullable=False),
    _at("starts_at"),
    sa.Column("ends_at", TIMESTAMP(timezone=True), nullable=False, index=True),
    sa.Column("set_by", sa.Text, nullable=False),
    sa.Column("by_operator", sa.Boolean, nullable=False),
    sa.Column("kid", sa.Text, nullable=False),
    sa.Column("public_jwk", JSONB),
    sa.Column("sealed_private", sa.LargeBinary),
)
