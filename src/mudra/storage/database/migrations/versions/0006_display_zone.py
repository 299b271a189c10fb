"""The time zone in which a person's pages write times."""

from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE user_account ADD COLUMN display_zone text NOT NULL DEFAULT 'browser'")
