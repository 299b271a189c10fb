"""Finds when the status of a member changed, however long the audit of that member is."""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
works_with = "0012"


_ON = "ON audit_event (entity_id, seq) WHERE event = 'entity:status:change'"
# Built before, without holding up what is written; see storage/database/concurrent_index.py.
indexes = {
    "ix_audit_event_status_change": f"CREATE INDEX CONCURRENTLY ix_audit_event_status_change {_ON}"
}


def upgrade() -> None:
    op.execute(f"CREATE INDEX IF NOT EXISTS ix_audit_event_status_change {_ON}")
