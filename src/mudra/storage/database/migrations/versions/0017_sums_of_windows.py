"""Sums of the windows of the last hours, over all AAs too; 0021 has those of the matrix."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute(
        "CREATE TABLE metrics_window (window_at timestamptz NOT NULL, aa_id text NOT NULL,"
        " tag text NOT NULL, type text NOT NULL, made_of jsonb NOT NULL, sums bytea NOT NULL,"
        " CONSTRAINT pk_metrics_window PRIMARY KEY (aa_id, window_at, tag, type))"
    )
    op.execute("CREATE INDEX ix_metrics_window_window_at ON metrics_window (window_at)")
