"""Identity, tokens, outbox, audit; and the job queue's own tables."""

import sqlalchemy as sa
from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "address_failure",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("address_key", sa.LargeBinary(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_address_failure")),
    )
    op.create_index(
        "ix_address_failure_key_at", "address_failure", ["address_key", "at"], unique=False
    )
    op.create_table(
        "audit_event",
        sa.Column("seq", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("txn_id", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit_event")),
    )
    op.create_index("ix_audit_event_entity", "audit_event", ["entity_id", "seq"], unique=False)
    op.create_table(
        "entity",
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="active", nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status IN ('active', 'suspended', 'retired')", name=op.f("ck_entity_status")
        ),
        sa.CheckConstraint("type IN ('FIP', 'FIU', 'AA')", name=op.f("ck_entity_type")),
        sa.PrimaryKeyConstraint("entity_id", name=op.f("pk_entity")),
    )
    op.create_table(
        "mail_outbox",
        sa.Column("mail_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("recipient", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("sealed_letter", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("sent_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("mail_id", name=op.f("pk_mail_outbox")),
    )
    op.create_index(op.f("ix_mail_outbox_created_at"), "mail_outbox", ["created_at"], unique=False)
    op.create_index(
        "mail_unsent",
        "mail_outbox",
        ["next_attempt_at"],
        unique=False,
        postgresql_where=sa.text("sent_at IS NULL"),
    )
    op.create_table(
        "node",
        sa.Column("node_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("proven_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("node_id", name=op.f("pk_node")),
    )
    op.create_table(
        "revoked_entity_token",
        sa.Column("jti", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("revoked_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("jti", name=op.f("pk_revoked_entity_token")),
    )
    op.create_index(
        op.f("ix_revoked_entity_token_expires_at"),
        "revoked_entity_token",
        ["expires_at"],
        unique=False,
    )
    op.create_table(
        "sealed_key",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_sealed_key")),
    )
    op.create_table(
        "service_fact",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_service_fact")),
    )
    op.create_table(
        "signing_key",
        sa.Column("kid", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("public_jwk", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("sealed_private", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("active_from", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("retires_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("revoked_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("kid", name=op.f("pk_signing_key")),
    )
    op.create_table(
        "throttle",
        sa.Column("account_key", sa.LargeBinary(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failure_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("account_key", name=op.f("pk_throttle")),
    )
    op.create_table(
        "user_account",
        sa.Column("user_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=True),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("password_set_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.CheckConstraint(
            "state IN ('invited', 'active', 'disabled')", name=op.f("ck_user_account_state")
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_user_account")),
        sa.UniqueConstraint("email", name=op.f("uq_user_account_email")),
    )
    op.create_table(
        "email_link",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("used_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("voided_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.user_id"], name=op.f("fk_email_link_user_id")
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_email_link")),
    )
    op.create_index(op.f("ix_email_link_user_id"), "email_link", ["user_id"], unique=False)
    op.create_table(
        "entity_admin",
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("user_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("since", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["entity_id"], ["entity.entity_id"], name=op.f("fk_entity_admin_entity_id")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.user_id"], name=op.f("fk_entity_admin_user_id")
        ),
        sa.PrimaryKeyConstraint("entity_id", "user_id", name=op.f("pk_entity_admin")),
    )
    op.create_index(op.f("ix_entity_admin_user_id"), "entity_admin", ["user_id"], unique=False)
    op.create_table(
        "entity_secret",
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("grace_until", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.Column("grace_days", sa.SmallInteger(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "expires_at <= created_at + interval '180 days'", name=op.f("ck_entity_secret_expiry")
        ),
        sa.CheckConstraint(
            "state IN ('current', 'grace', 'ended')", name=op.f("ck_entity_secret_state")
        ),
        sa.CheckConstraint("grace_days BETWEEN 0 AND 7", name=op.f("ck_entity_secret_grace_days")),
        sa.ForeignKeyConstraint(
            ["entity_id"], ["entity.entity_id"], name=op.f("fk_entity_secret_entity_id")
        ),
        sa.PrimaryKeyConstraint("entity_id", "version", name=op.f("pk_entity_secret")),
    )
    op.create_index(
        "one_current_secret",
        "entity_secret",
        ["entity_id"],
        unique=True,
        postgresql_where=sa.text("state = 'current'"),
    )
    op.create_index(
        "one_grace_secret",
        "entity_secret",
        ["entity_id"],
        unique=True,
        postgresql_where=sa.text("state = 'grace'"),
    )
    op.create_table(
        "user_token",
        sa.Column("jti", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("user_id", sa.UUID(as_uuid=False), nullable=False),
        sa.Column("issued_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("expires_at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("revoked_at", postgresql.TIMESTAMP(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.user_id"], name=op.f("fk_user_token_user_id")
        ),
        sa.PrimaryKeyConstraint("jti", name=op.f("pk_user_token")),
    )
    op.create_index(op.f("ix_user_token_user_id"), "user_token", ["user_id"], unique=False)
    op.get_bind().exec_driver_sql(SchemaManager.get_schema().replace("%", "%%"))
