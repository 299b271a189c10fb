"""Sessions of the console."""

from alembic import op

revision = "0060"
down_revision = "0061"
branch_labels = None
depends_on = None

_TABLE = """
CREATE TABLE console_session (
    key bytea NOT NULL CONSTRAINT pk_console_session PRIMARY KEY,
    user_id uuid NOT NULL CONSTRAINT fk_console_session_user_id REFERENCES user_account,
    csrf_token text NOT NULL,
    started_at timestamptz NOT NULL,
    last_used_at timestamptz NOT NULL,
    proven_at timestamptz NOT NULL,
    address text NOT NULL
);
CREATE INDEX ix_console_session_user_id ON console_session (user_id);
"""


def upgrade() -> None:
    op.execute(_TABLE)
