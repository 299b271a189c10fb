"""Keys of the metrics begin with `aa_id`, where the tables are small enough to do it at once.

A new index of a large table takes minutes in which no push is stored. Its key stays as it is,
which changes no result; `mudra database distribute --dry-run` says what changes it later.
"""

import sqlalchemy as sa
from alembic import op

from mudra.storage.database.migrations.metrics_keys import NEW_KEYS

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

MOST_BYTES = 64 << 20
"""Of the rows of tables that change together: their new indexes take less than a second."""
_BYTES = """
SELECT coalesce(sum(pg_relation_size(c.oid)), 0) FROM pg_class c
WHERE c.oid = ANY (cast(:tables AS text[])::regclass[]) OR c.oid IN (
    SELECT inhrelid FROM pg_inherits WHERE inhparent = ANY (cast(:tables AS text[])::regclass[])
)
"""


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '5s'")
    op.execute("ALTER TABLE metrics_held ADD COLUMN aa_id text")
    op.execute("""
        UPDATE metrics_held h SET aa_id = r.aa_id
        FROM metrics_receipt r WHERE r.receipt_id = h.receipt_id
    """)
    op.execute("ALTER TABLE metrics_held ALTER COLUMN aa_id SET NOT NULL")
    # Nodes of the previous release do not give it.
    op.execute("""
        CREATE FUNCTION metrics_held_aa() RETURNS trigger LANGUAGE plpgsql AS $body$
        BEGIN
            IF NEW.aa_id IS NULL THEN
                NEW.aa_id := (SELECT aa_id FROM metrics_receipt WHERE receipt_id = NEW.receipt_id);
            END IF;
            RETURN NEW;
        END
        $body$
    """)
    op.execute("""
        CREATE TRIGGER metrics_held_aa BEFORE INSERT ON metrics_held
        FOR EACH ROW EXECUTE FUNCTION metrics_held_aa()
    """)
    for tables, statements in NEW_KEYS:
        size = op.get_bind().scalar(sa.text(_BYTES), {"tables": list(tables)})
        if size is not None and size <= MOST_BYTES:
            for statement in statements:
                op.execute(statement)
