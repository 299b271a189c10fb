"""The operator's word on a member apart from what its registry entry says."""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # A former release writes no membership and reads none: the default serves it.
    op.add_column(
        "entity", sa.Column("membership", sa.Text(), nullable=False, server_default="active")
    )
    op.create_check_constraint(
        "membership", "entity", "membership IN ('active', 'suspended', 'retired')"
    )
    # What the entry's standing explains was the entry's doing.
    op.execute(
        "UPDATE entity SET membership = status WHERE status <> 'active' AND NOT EXISTS ("
        "SELECT FROM registry_entity AS r"
        " WHERE r.entity_id = entity.entity_id AND r.standing = entity.status)"
    )
