"""Finds the last change of each entry of the registry, however long the log of changes is."""

from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute("CREATE INDEX registry_change_of_entity ON registry_change (entity_id, sequence)")
