"""The APIs that a person wants alarms about; none are all."""

from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute("ALTER TABLE alarm_preference ADD COLUMN apis text[] NOT NULL DEFAULT '{}'")
