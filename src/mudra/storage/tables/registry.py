"""Tables of the registry: entities, their versions, the log of changes, added words."""

from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import JSONB, TIMESTAMP, UUID

from mudra.storage.tables.metadata import at, metadata


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text, nullable=False)


HOLDS: Final = sa.text("(live_from IS NOT NULL OR status = 'approved')")
"""The versions that hold their `kid` and modulus."""
HAS_HANDLE: Final = sa.text("(entityhandle > '' AND (status = 'live' OR status = 'approved'))")
HAD_HANDLE: Final = sa.text("(entityhandle > '' AND live_from IS NOT NULL)")
HAS_NAME: Final = sa.text("(status = 'live' OR status = 'approved')")
"""The versions that hold what their entity is called."""
IS_LIVE: Final = sa.text("(status = 'live')")
IS_PENDING: Final = sa.text("(status IN ('submitted', 'approved'))")
"""As the indexes of versions have them: a query that says the same finds a few rows by them."""

registry_entity: Final = sa.Table(
    "registry_entity",
    metadata,
    sa.Column("entity_id", sa.Text, primary_key=True),
    _text("type"),
    _text("status"),
    sa.CheckConstraint("type IN ('FIP', 'FIU', 'AA')", name="type"),
    sa.CheckConstraint("status IN ('unlisted', 'live', 'suspended', 'retired')", name="status"),
)

registry_version: Final = sa.Table(
    "registry_version",
    metadata,
    sa.Column("entity_id", sa.ForeignKey("registry_entity.entity_id"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("body", sa.LargeBinary, nullable=False),
    sa.Column("entityhandle", sa.Text, nullable=False),
    sa.Column("kid", sa.Text, nullable=False),
    _text("thumbprint"),
    sa.Column("modulus_hash", sa.Text, nullable=False),
    sa.Column("bits", sa.Integer, nullable=False),
    _text("status"),
    _text("submitted_by"),
    at("submitted_at"),
    _text("submitted_person"),
    _text("decided_by"),
    at("decided_at", nullable=True),
    _text("reason"),
    at("goes_live_at", nullable=True),
    at("live_from", nullable=True),
    at("live_until", nullable=True),
    sa.Column("equal_to", sa.Integer, nullable=False),
    sa.Column("name_likeness", sa.Text, nullable=False, server_default=""),
    sa.Column("code_likeness", sa.Text, nullable=False, server_default=""),
    sa.CheckConstraint(
        "status IN ('submitted', 'approved', 'live', 'rejected', 'withdrawn', 'superseded')",
        name="status",
    ),
    sa.Index("one_live_version", "entity_id", unique=True, postgresql_where=IS_LIVE),
    sa.Index("one_pending_version", "entity_id", unique=True, postgresql_where=IS_PENDING),
    sa.Index(
        "registry_version_due",
        "goes_live_at",
        postgresql_where=sa.text("status = 'approved'"),
    ),
    # Of one entity there may be very many versions: what decides reads none of them in vain.
    sa.Index("registry_version_content", "entity_id", sa.text("sha256(body)"), "number"),
    sa.Index("registry_version_kid_held", "kid", "entity_id", postgresql_where=HOLDS),
    sa.Index("registry_version_modulus_held", "modulus_hash", "entity_id", postgresql_where=HOLDS),
    sa.Index(
        "registry_version_handle_held", sa.text("lower(entityhandle)"), postgresql_where=HAS_HANDLE
    ),
    sa.Index("registry_version_name_held", "name_likeness", postgresql_where=HAS_NAME),
    sa.Index("registry_version_code_held", "code_likeness", postgresql_where=HAS_NAME),
    sa.Index(
        "registry_version_handle_seen",
        sa.text("lower(entityhandle)"),
        "live_from",
        postgresql_where=HAD_HANDLE,
    ),
)

registry_key_search: Final = sa.Table(
    "registry_key_search",
    metadata,
    sa.Column("modulus_hash", sa.Text, primary_key=True),
    sa.Column("steps", sa.Integer, nullable=False),
    sa.Column("last_step", sa.BigInteger, nullable=False),
    sa.Column("weakness", sa.Text, nullable=False, server_default=""),
    at("found_at", nullable=True),
    sa.CheckConstraint("weakness IN ('', 'small-factor', 'shared-prime')", name="weakness"),
)

registry_probe: Final = sa.Table(
    "registry_probe",
    metadata,
    sa.Column("probe_id", UUID(as_uuid=False), primary_key=True),
    sa.Column("entity_id", sa.ForeignKey("registry_entity.entity_id"), nullable=False, index=True),
    sa.Column("version", sa.Integer, nullable=False),
    _text("requested_by"),
    _text("requested_address"),
    _text("txn_id"),
    sa.Column("requested_at", TIMESTAMP(timezone=True), nullable=False, index=True),
    at("done_at", nullable=True),
    sa.Column("result", JSONB),
)

registry_change: Final = sa.Table(
    "registry_change",
    metadata,
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("at", TIMESTAMP(timezone=True), nullable=False, index=True),
    sa.Column("type", sa.Text),
    _text("entity_id"),
    sa.Column("body", sa.LargeBinary),
    sa.Index("registry_change_marker", "sequence", postgresql_where=sa.text("type IS NULL")),
    sa.Index("registry_change_of_entity", "entity_id", "sequence"),
)

registry_word: Final = sa.Table(
    "registry_word",
    metadata,
    sa.Column("number", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _text("kind"),
    _text("word"),
    sa.Column("variants", JSONB, nullable=False),
    _text("added_by"),
    at("added_at"),
    sa.Column("status_group", sa.Text, nullable=False, server_default=""),
)

registry_write: Final = sa.Table(
    "registry_write",
    metadata,
    sa.Column("number", sa.BigInteger, sa.Identity(always=True), primary_key=True),
    _text("requester"),
    at("at"),
    sa.Index("registry_write_of", "requester", "at"),
)
"""Acts of the last hour: writes to the registry, and test messages to webhooks (decision 0171)."""
