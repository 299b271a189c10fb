"""How often each signing key was fetched, by member."""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "key_fetch",
        sa.Column("kid", sa.Text(), nullable=False),
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.Column("first_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.Column("last_at", sa.TIMESTAMP(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["kid"], ["signing_key.kid"], name=op.f("fk_key_fetch_kid")),
        sa.PrimaryKeyConstraint("kid", "entity_id", name=op.f("pk_key_fetch")),
    )
