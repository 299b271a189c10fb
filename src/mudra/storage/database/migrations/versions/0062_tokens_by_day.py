"""Tokens issued, by entity and day."""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0060"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "token_day",
        sa.Column("entity_id", sa.Text(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("count", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("entity_id", "day", name=op.f("pk_token_day")),
    )
