"""All that changed since 1.0.0: its schema becomes this one, its rows of metrics become blocks.

Of a database with data, the schema is changed first, in one transaction: from then on no node of
1.0.0 starts on it, or stores what would not be converted. Then the rows are converted, in pieces,
each of which is kept when the upgrade is killed. The old tables go last.
"""

from importlib.resources import files
from typing import Final

import psycopg
import sqlalchemy as sa
from alembic import op

from mudra.storage.database.migrations.daily_rows import fill
from mudra.storage.database.migrations.likenesses import fill_likenesses
from mudra.storage.database.migrations.metrics_rows.conversion import convert
from mudra.storage.database.migrations.metrics_rows.room import room_missing
from mudra.storage.database.migrations.metrics_rows.sources import CONVERTED, OLD

revision = "0027"
down_revision = "0011"
branch_labels = None
depends_on = None

missing = room_missing

_AUDIT: Final = "ON audit_event (entity_id, seq) WHERE event = 'entity:status:change'"
_VERSIONS: Final = {
    "registry_version_content": "(entity_id, sha256(body), number)",
    "registry_version_kid_held": (
        "(kid, entity_id) WHERE live_from IS NOT NULL OR status = 'approved'"
    ),
    "registry_version_modulus_held": (
        "(modulus_hash, entity_id) WHERE live_from IS NOT NULL OR status = 'approved'"
    ),
    "registry_version_handle_held": (
        "(lower(entityhandle)) WHERE entityhandle > '' AND (status = 'live' OR status = 'approved')"
    ),
    "registry_version_handle_seen": (
        "(lower(entityhandle), live_from) WHERE entityhandle > '' AND live_from IS NOT NULL"
    ),
}
_INDEXES: Final = {
    "ix_audit_event_status_change": _AUDIT,
    **{name: f"ON registry_version {what}" for name, what in _VERSIONS.items()},
}
# Built before, without holding up what is written; see storage/database/schema/concurrent_index.py.
indexes = {name: f"CREATE INDEX CONCURRENTLY {name} {what}" for name, what in _INDEXES.items()}
_CHANGED: Final = "SELECT to_regclass('metrics_block') IS NOT NULL"
_KEPT_APART: Final = """
CREATE TABLE schema_version (
    version_num varchar(32) NOT NULL CONSTRAINT schema_version_pkc PRIMARY KEY
);
INSERT INTO schema_version SELECT version_num FROM alembic_version
"""
"""Before decision 0134 one table had both revisions."""
_LEFT: Final = (
    "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass('{table}')"
)


def before(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    with connection.transaction():
        if connection.execute(_CHANGED).fetchone() == (False,):
            connection.execute(_schema().encode())
            # Both name 0011 still; from here on no release before this one works on it.
            connection.execute(_KEPT_APART)
            connection.execute("UPDATE alembic_version SET version_num = %s", [revision])
    convert(connection)


def upgrade() -> None:
    bind = op.get_bind()
    if not bind.scalar(sa.text(_CHANGED)):  # a new database
        bind.exec_driver_sql(_schema())
    for name, what in _INDEXES.items():
        op.execute(f"CREATE INDEX IF NOT EXISTS {name} {what}")
    for table in CONVERTED:
        left = bind.scalar(sa.text(_LEFT.format(table=OLD + table)))
        if left is not None:
            raise RuntimeError(f"{left} is not converted")
        op.execute(f"DROP TABLE {OLD}{table}")
    op.execute("ALTER TABLE metrics_held ALTER COLUMN buckets SET NOT NULL")
    op.execute('ALTER TABLE metrics_held DROP COLUMN "rows"')
    fill(bind)
    fill_likenesses(bind)


def _schema() -> str:
    file = files("mudra.storage.database.migrations") / "since_1_0_0.sql"
    return file.read_text(encoding="utf-8")
