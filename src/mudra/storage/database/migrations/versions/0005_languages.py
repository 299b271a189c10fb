"""The language that a person chose for pages and emails."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE user_account ADD COLUMN language text NOT NULL DEFAULT ''")
