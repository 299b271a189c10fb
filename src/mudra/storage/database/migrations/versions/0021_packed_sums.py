"""Packs the sums of all FIPs in a row: over all AAs of hours and days, and those of the matrix."""

from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None
works_with = "0012"


def upgrade() -> None:
    op.execute(
        "CREATE TABLE metrics_packed (aa_id text NOT NULL, kind text NOT NULL,"
        " grain text NOT NULL, at timestamptz NOT NULL, tag text NOT NULL, type text NOT NULL,"
        " version uuid NOT NULL, sums bytea NOT NULL,"
        " CONSTRAINT pk_metrics_packed PRIMARY KEY (aa_id, kind, grain, at, tag, type))"
    )
    op.execute("CREATE INDEX ix_metrics_packed_at ON metrics_packed (grain, at, kind, type)")
