"""Takes away what only earlier builds read or wrote, and what a second database handed over."""

from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_GONE = (
    "DROP TRIGGER IF EXISTS metrics_held_aa ON metrics_held",
    "DROP FUNCTION IF EXISTS metrics_held_aa()",
    "DROP TABLE handover, handover_done",
    "DELETE FROM service_fact WHERE name ~ '^metrics-(database|moving|restored)$'",
    """
    DROP INDEX ix_registry_version_entityhandle, ix_registry_version_kid,
        ix_registry_version_modulus_hash
    """,
    "DELETE FROM totp_factor WHERE NOT confirmed",
    """
    ALTER TABLE totp_factor DROP COLUMN confirmed,
        ADD CONSTRAINT uq_totp_factor_user_id UNIQUE (user_id)
    """,
)


def upgrade() -> None:
    for statement in _GONE:
        op.execute(statement)
