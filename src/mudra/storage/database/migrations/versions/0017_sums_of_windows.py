"""Sums of the windows of the last hours, over all AAs too, and those of the matrix."""

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
    op.execute(
        "CREATE TABLE metrics_pair_window (at timestamptz NOT NULL, type text NOT NULL,"
        " aa_id text NOT NULL, fip_id text NOT NULL, total bigint NOT NULL,"
        " succeeded bigint NOT NULL, client_errors bigint NOT NULL, answered bigint NOT NULL,"
        " soon_lower bigint NOT NULL, soon_upper bigint NOT NULL, soon_estimate bigint NOT NULL,"
        " longest bigint NOT NULL,"
        " CONSTRAINT pk_metrics_pair_window PRIMARY KEY (aa_id, at, type, fip_id))"
    )
    op.execute("CREATE INDEX ix_metrics_pair_window_at ON metrics_pair_window (at, type)")
