"""Makes the tables of metrics as blocks, which 0025 fills before it drops those of rows.

No release before works on it: what the rows are added up to is not made any more.
"""

from alembic import op

from mudra.storage.database.migrations.metrics_rows.sources import CONVERTED, MADE_AGAIN, OLD

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_COLUMNS = """
    aa_id text NOT NULL,
    grain text NOT NULL,
    bucket smallint NOT NULL,
    at timestamptz NOT NULL,
    until timestamptz NOT NULL,
    tag text NOT NULL,
    version uuid NOT NULL,
    numbers bytea NOT NULL,
    times bytea NOT NULL
"""
_FUNCTIONS = """
CREATE OR REPLACE FUNCTION metrics_partition_unit(parent TEXT) RETURNS TEXT
LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
    IF parent IN ('metrics_block_window', 'metrics_block_previous') THEN
        RETURN 'day';
    ELSIF parent = 'metrics_block_hour' THEN
        RETURN 'month';
    ELSIF parent = 'metrics_block_day' THEN
        RETURN 'year';
    END IF;
    RAISE EXCEPTION 'this table has no partitions';
END
$body$;

CREATE OR REPLACE FUNCTION metrics_partition_name(parent TEXT, moment TIMESTAMP WITH TIME ZONE)
RETURNS TEXT LANGUAGE sql STABLE AS $body$
    SELECT parent || '_' || to_char(
        moment AT TIME ZONE 'UTC',
        CASE metrics_partition_unit(parent)
            WHEN 'day' THEN 'YYYYMMDD' WHEN 'month' THEN 'YYYYMM' ELSE 'YYYY' END
    )
$body$;

CREATE OR REPLACE FUNCTION metrics_partition_make(parent TEXT, moment TIMESTAMP WITH TIME ZONE)
RETURNS BOOLEAN LANGUAGE plpgsql SECURITY DEFINER AS $body$
DECLARE
    unit CONSTANT TEXT := metrics_partition_unit(parent);
    begins CONSTANT TIMESTAMP := date_trunc(unit, moment AT TIME ZONE 'UTC');
    ends CONSTANT TIMESTAMP := begins + ('1 ' || unit)::INTERVAL;
    part CONSTANT TEXT := metrics_partition_name(parent, moment);
BEGIN
    IF begins NOT BETWEEN '2000-01-01' AND '2199-12-31' THEN
        RAISE EXCEPTION 'a partition of metrics is of the years 2000 to 2199';
    END IF;
    -- One at a time, and not by to_regclass: its cache may not include the latest commit.
    PERFORM pg_advisory_xact_lock(1835365490);
    IF EXISTS (SELECT FROM pg_class
               WHERE relname = part AND relnamespace = current_schema()::REGNAMESPACE) THEN
        RETURN false;
    END IF;
    -- Attaching does not block pushes into other partitions; CREATE … PARTITION OF would.
    EXECUTE 'CREATE TABLE ' || quote_ident(part) || ' (LIKE ' || quote_ident(parent)
        || ' INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)';
    EXECUTE 'ALTER TABLE ' || quote_ident(parent) || ' ATTACH PARTITION ' || quote_ident(part)
        || ' FOR VALUES FROM (' || quote_literal(begins || '+00')
        || ') TO (' || quote_literal(ends || '+00') || ')';
    RETURN true;
END
$body$;
"""


def upgrade() -> None:
    op.execute(
        f"CREATE TABLE metrics_block ({_COLUMNS},"
        " CONSTRAINT pk_metrics_block PRIMARY KEY (aa_id, grain, bucket, at, tag),"
        " CONSTRAINT ck_metrics_block_grain CHECK (grain IN ('window', 'hour', 'day')))"
        " PARTITION BY LIST (grain)"
    )
    op.execute(
        f"CREATE TABLE metrics_block_previous ({_COLUMNS}, report_version integer NOT NULL,"
        " CONSTRAINT pk_metrics_block_previous"
        " PRIMARY KEY (aa_id, grain, bucket, at, tag, report_version))"
        " PARTITION BY RANGE (at)"
    )
    # Blocks are compressed: PostgreSQL would try in vain.
    for table in ("metrics_block", "metrics_block_previous"):
        for column in ("numbers", "times"):
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")
    op.execute("CREATE INDEX ix_metrics_block_at ON metrics_block (at, grain, aa_id)")
    op.execute(
        "CREATE INDEX ix_metrics_block_unsettled ON metrics_block (at)"
        " WHERE grain <> 'window' AND tag IN ('req', 'not')"
        " AND until - at <= CASE grain WHEN 'hour' THEN interval '1 hour' ELSE interval '1 day' END"
    )
    for grain in ("window", "hour", "day"):
        op.execute(
            f"CREATE TABLE metrics_block_{grain} PARTITION OF metrics_block"
            f" FOR VALUES IN ('{grain}') PARTITION BY RANGE (at)"
        )
        for column in ("numbers", "times"):
            op.execute(
                f"ALTER TABLE metrics_block_{grain} ALTER COLUMN {column} SET STORAGE EXTERNAL"
            )
    op.execute(_FUNCTIONS)
    op.execute("ALTER TABLE metrics_held ADD COLUMN buckets bytea")
    for table in MADE_AGAIN:
        op.execute(f"DROP TABLE IF EXISTS {table}")
    # A node of the release before that still runs must not store what is then converted no more.
    for table in CONVERTED:
        op.execute(f"ALTER TABLE {table} RENAME TO {OLD}{table}")
