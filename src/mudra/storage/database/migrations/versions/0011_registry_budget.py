"""The registry's writes of the last hour, by requester."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "registry_write",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("requester", sa.Text(), nullable=False),
        sa.Column("at", postgresql.TIMESTAMP(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_registry_write")),
    )
    op.create_index("registry_write_of", "registry_write", ["requester", "at"])


def downgrade() -> None:
    op.drop_table("registry_write")
