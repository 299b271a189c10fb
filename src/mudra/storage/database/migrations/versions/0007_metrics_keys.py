"""Keys of the metrics begin with `aa_id`, so that what belongs to one AA is in one place."""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_CELL = "tag, fip_id, type"
_KEYS = {
    "metrics_raw": f"aa_id, window_at, {_CELL}",
    "metrics_previous": f"aa_id, window_at, {_CELL}, version",
    "metrics_hour": f"aa_id, at, {_CELL}",
    "metrics_day": f"aa_id, at, {_CELL}",
    "metrics_pair_hour": "aa_id, at, type, fip_id",
    "metrics_pair_day": "aa_id, at, type, fip_id",
    "metrics_received": "aa_id, at, tag",
    "metrics_receipt": "aa_id, receipt_id",
    "metrics_held": "aa_id, receipt_id",
    "metrics_refused": "aa_id, id",
    "metrics_stale": "aa_id, id",
}
_INDEXES = {
    "ix_metrics_raw_window_at": "metrics_raw (window_at)",
    "ix_metrics_hour_at": "metrics_hour (at)",
    "ix_metrics_day_at": "metrics_day (at)",
    "ix_metrics_pair_hour_at": "metrics_pair_hour (at, type)",
    "ix_metrics_pair_day_at": "metrics_pair_day (at, type)",
    "ix_metrics_received_at": "metrics_received (at)",
    "ix_metrics_receipt_receipt_id": "metrics_receipt (receipt_id)",
    "ix_metrics_push_receipt_id": "metrics_push (aa_id, receipt_id)",
    "ix_metrics_stale_id": "metrics_stale (id)",
}
_OF_RECEIPT = "FOREIGN KEY (aa_id, receipt_id) REFERENCES metrics_receipt (aa_id, receipt_id)"


def upgrade() -> None:
    op.execute("ALTER TABLE metrics_held ADD COLUMN aa_id text")
    op.execute("""
        UPDATE metrics_held h SET aa_id = r.aa_id
        FROM metrics_receipt r WHERE r.receipt_id = h.receipt_id
    """)
    op.execute("ALTER TABLE metrics_held ALTER COLUMN aa_id SET NOT NULL")
    op.execute("ALTER TABLE metrics_held DROP CONSTRAINT fk_metrics_held_receipt_id")
    op.execute("ALTER TABLE metrics_push DROP CONSTRAINT fk_metrics_push_receipt_id")
    for table, columns in _KEYS.items():
        key = f"pk_{table}"
        op.execute(
            f"ALTER TABLE {table} DROP CONSTRAINT {key},"
            f" ADD CONSTRAINT {key} PRIMARY KEY ({columns})"
        )
    for name, what in _INDEXES.items():
        op.execute(f"CREATE INDEX {name} ON {what}")
    op.execute(
        "ALTER TABLE metrics_held ADD CONSTRAINT fk_metrics_held_aa_id"
        f" {_OF_RECEIPT} ON DELETE CASCADE"
    )
    op.execute(f"ALTER TABLE metrics_push ADD CONSTRAINT fk_metrics_push_aa_id {_OF_RECEIPT}")
