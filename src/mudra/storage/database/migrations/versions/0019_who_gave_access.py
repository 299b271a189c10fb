"""Who gave a person a right, so that no one approves what their own accomplice submitted (0189)."""

from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute(
        "CREATE TABLE access_grant (number bigint GENERATED ALWAYS AS IDENTITY,"
        " user_id uuid NOT NULL, entity_id text NOT NULL, given_by uuid NOT NULL,"
        " at timestamptz NOT NULL, CONSTRAINT pk_access_grant PRIMARY KEY (number))"
    )
    op.execute("CREATE INDEX ix_access_grant_at ON access_grant (at)")
