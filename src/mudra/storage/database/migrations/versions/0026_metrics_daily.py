"""Adds requests by day as rows for SQL, filled from the days over all AAs that are there."""

from alembic import op

from mudra.storage.database.migrations.daily_rows import fill

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        "CREATE TABLE metrics_daily (day date NOT NULL, fip_id text NOT NULL, type text NOT NULL,"
        " total numeric NOT NULL, succeeded numeric NOT NULL, errors_4xx numeric NOT NULL,"
        " errors_5xx numeric NOT NULL, p50 bigint, p95 bigint, p99 bigint,"
        " CONSTRAINT pk_metrics_daily PRIMARY KEY (day, fip_id, type))"
    )
    op.execute("CREATE INDEX ix_metrics_daily_fip_id ON metrics_daily (fip_id, day)")
    fill(op.get_bind())
