"""A hand-over waits for acceptance: its invitation names the admin from whom it takes over."""

from alembic import op

revision = "0014"
down_revision = "0013"
works_with = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE admin_invitation ADD COLUMN takes_over text NOT NULL DEFAULT ''")
