"""The hash chain over the audit events (quality L4)."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A row may be sealed only when no transaction that began before its own is open.
    op.execute("ALTER TABLE audit_event ADD COLUMN xid xid8 DEFAULT pg_current_xact_id()")
    op.create_table(
        "audit_seal",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["seq"], ["audit_event.seq"], name=op.f("fk_audit_seal_seq")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_audit_seal")),
        sa.UniqueConstraint("seq", name=op.f("uq_audit_seal_seq")),
    )
