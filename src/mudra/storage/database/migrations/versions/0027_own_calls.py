"""Adds the calls that are the FIPs' own; what detection remembers has another form from here on."""

from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE TABLE metrics_own_calls (span text NOT NULL, at timestamptz NOT NULL,"
        " calls bytea NOT NULL, CONSTRAINT pk_metrics_own_calls PRIMARY KEY (span, at),"
        " CONSTRAINT ck_metrics_own_calls_span CHECK (span IN ('hour', 'day', 'changes')))"
    )
    op.execute("DELETE FROM metrics_fip_state")
