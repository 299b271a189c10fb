"""Finds when the status of a member changed, however long the audit of that member is."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute(
        "CREATE INDEX ix_audit_event_status_change ON audit_event (entity_id, seq)"
        " WHERE event = 'entity:status:change'"
    )
