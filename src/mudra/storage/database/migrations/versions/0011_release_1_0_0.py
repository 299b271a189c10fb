"""The schema of 1.0.0."""

from importlib.resources import files

from alembic import op

revision = "0011"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    schema = files("mudra.storage.database.migrations") / "baseline.sql"
    op.get_bind().exec_driver_sql(schema.read_text(encoding="utf-8"))
