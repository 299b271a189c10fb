"""What is handed over from a second database, which has the metrics, to the first one."""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        CREATE TABLE handover (
            aa_id text NOT NULL,
            handover_id uuid NOT NULL,
            noted_at timestamptz NOT NULL,
            body bytea NOT NULL,
            CONSTRAINT pk_handover PRIMARY KEY (aa_id, handover_id)
        )
    """)
    op.execute("CREATE INDEX ix_handover_noted_at ON handover (noted_at)")
    op.execute("""
        CREATE TABLE handover_done (
            handover_id uuid CONSTRAINT pk_handover_done PRIMARY KEY,
            done_at timestamptz NOT NULL
        )
    """)
    op.execute("CREATE INDEX ix_handover_done_done_at ON handover_done (done_at)")
