"""Drops the rows of metrics, once they are converted to blocks."""

import sqlalchemy as sa
from alembic import op

from mudra.storage.database.migrations.metrics_rows.conversion import convert
from mudra.storage.database.migrations.metrics_rows.room import room_missing
from mudra.storage.database.migrations.metrics_rows.sources import CONVERTED, OLD

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

missing = room_missing
before = convert


_LEFT = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass('{table}')"


def upgrade() -> None:
    for table in CONVERTED:
        left = op.get_bind().scalar(sa.text(_LEFT.format(table=OLD + table)))
        if left is not None:
            raise RuntimeError(f"{left} is not converted")
    op.execute("ALTER TABLE metrics_held ALTER COLUMN buckets SET NOT NULL")
    op.execute('ALTER TABLE metrics_held DROP COLUMN "rows"')
    for table in CONVERTED:
        op.execute(f"DROP TABLE {OLD}{table}")
