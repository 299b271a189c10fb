"""The registry: entities, versions, the log of changes, added words."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0010"
down_revision = "0020"
branch_labels = None
depends_on = None


def _at(name: str, *, nullable: bool = True) -> sa.Column[object]:
    return sa.Column(name, postgresql.TIMESTAMP(timezone=True), nullable=nullable)


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.Text(), nullable=False)


def upgrade() -> None:
    op.create_table(
        "registry_entity",
        _text("entity_id"),
        _text("type"),
        _text("standing"),
        sa.CheckConstraint("type IN ('FIP', 'FIU', 'AA')", name=op.f("ck_registry_entity_type")),
        sa.CheckConstraint(
            "standing IN ('unlisted', 'live', 'suspended', 'retired')",
            name=op.f("ck_registry_entity_standing"),
        ),
        sa.PrimaryKeyConstraint("entity_id", name=op.f("pk_registry_entity")),
    )
    _create_versions()
    op.create_table(
        "registry_change",
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        _at("at", nullable=False),
        sa.Column("type", sa.Text(), nullable=True),
        _text("entity_id"),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("sequence", name=op.f("pk_registry_change")),
    )
    op.create_index(op.f("ix_registry_change_at"), "registry_change", ["at"])
    op.create_index(
        "registry_change_marker",
        "registry_change",
        ["sequence"],
        postgresql_where=sa.text("type IS NULL"),
    )
    op.create_table(
        "registry_word",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        _text("kind"),
        _text("word"),
        sa.Column("variants", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        _text("added_by"),
        _at("added_at", nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_registry_word")),
    )


def _create_versions() -> None:
    op.create_table(
        "registry_version",
        _text("entity_id"),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        _text("entityhandle"),
        _text("kid"),
        _text("thumbprint"),
        _text("modulus_hash"),
        sa.Column("bits", sa.Integer(), nullable=False),
        _text("status"),
        _text("submitted_by"),
        _at("submitted_at", nullable=False),
        _text("decided_by"),
        _at("decided_at"),
        _text("reason"),
        _at("goes_live_at"),
        _at("live_from"),
        _at("live_until"),
        sa.Column("equal_to", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status IN ('submitted', 'approved', 'live', 'rejected', 'withdrawn', 'superseded')",
            name=op.f("ck_registry_version_status"),
        ),
        sa.ForeignKeyConstraint(
            ["entity_id"],
            ["registry_entity.entity_id"],
            name=op.f("fk_registry_version_entity_id"),
        ),
        sa.PrimaryKeyConstraint("entity_id", "number", name=op.f("pk_registry_version")),
    )
    for name in ("entityhandle", "kid", "modulus_hash"):
        op.create_index(op.f(f"ix_registry_version_{name}"), "registry_version", [name])
    for name, unique, where in (
        ("one_live_version", True, "status = 'live'"),
        ("one_pending_version", True, "status IN ('submitted', 'approved')"),
    ):
        op.create_index(
            name, "registry_version", ["entity_id"], unique=unique, postgresql_where=sa.text(where)
        )
    op.create_index(
        "registry_version_due",
        "registry_version",
        ["goes_live_at"],
        postgresql_where=sa.text("status = 'approved'"),
    )


def downgrade() -> None:
    for name in ("registry_word", "registry_change", "registry_version", "registry_entity"):
        op.drop_table(name)
