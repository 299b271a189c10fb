"""Public keys of another issuer, whose tokens are valid too."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE signing_key ADD COLUMN issuer text NOT NULL DEFAULT ''")
    op.execute("""
        ALTER TABLE signing_key ADD CONSTRAINT ck_signing_key_imported
            CHECK (issuer = '' OR sealed_private IS NULL)
    """)
