"""Takes away what only builds before this one read or wrote."""

from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        DROP INDEX ix_registry_version_entityhandle, ix_registry_version_kid,
            ix_registry_version_modulus_hash
    """)
    op.execute("DELETE FROM totp_factor WHERE NOT confirmed")
    op.execute("""
        ALTER TABLE totp_factor DROP COLUMN confirmed,
            ADD CONSTRAINT uq_totp_factor_user_id UNIQUE (user_id)
    """)
