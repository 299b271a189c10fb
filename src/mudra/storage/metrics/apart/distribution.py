"""How the metrics are shared out to the machines of a Citus cluster, by AA (decision 0119)."""

from typing import Final

import psycopg

from mudra.overview.administration import Distribution
from mudra.storage.database.migrations.metrics_keys import NEW_KEYS

COLUMN: Final = "aa_id"
FIRST: Final = "metrics_receipt"
"""Others refer to it; all are shared out as it is, so that an AA's rows are on one machine."""
DISTRIBUTED: Final = (
    *(FIRST, "metrics_push", "metrics_held", "metrics_raw", "metrics_previous"),
    *("metrics_hour", "metrics_day", "metrics_pair_hour", "metrics_pair_day"),
    *("metrics_window", "metrics_packed", "metrics_received", "metrics_refused"),
    *("metrics_stale", "handover"),
)
REFERENCE: Final = ("metrics_attribution", "metrics_fip_state", "metrics_window_calls")
"""Of the whole network, some thousand rows each: every machine has a copy."""

_FORMER: Final = """
SELECT DISTINCT t.relname
FROM pg_class t JOIN pg_index x ON x.indrelid = t.oid
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
WHERE t.relnamespace = current_schema()::regnamespace AND t.relname = ANY(%(tables)s::text[])
  AND x.indisunique AND a.attname IS DISTINCT FROM %(column)s
"""
_FOREIGN: Final = """
SELECT c.conrelid::regclass::text FROM pg_constraint c
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
WHERE c.contype = 'f' AND c.conparentid = 0 AND a.attname <> %(column)s
  AND c.conrelid = ANY(%(tables)s::text[]::regclass[])
"""


def former_keys(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    """Return the tables with a key, or a reference, that does not begin with the AA's ID."""
    given = {"tables": list(DISTRIBUTED), "column": COLUMN}
    found: set[str] = set()
    for query in (_FORMER, _FOREIGN):
        found.update(str(row[0]) for row in connection.execute(query.encode(), given))
    return sorted(found)


def distribution(connection: psycopg.Connection[tuple[object, ...]]) -> Distribution:
    """Return the statements that share out the metrics of this database, once none runs on it."""
    former = former_keys(connection)
    new_keys = [
        statement
        for tables, statements in NEW_KEYS
        if not set(tables).isdisjoint(former)
        for statement in statements
    ]
    return Distribution(
        former,
        [
            *new_keys,
            "CREATE EXTENSION IF NOT EXISTS citus",
            # For nodes of an earlier release; a distributed table may have none.
            "DROP TRIGGER IF EXISTS metrics_held_aa ON metrics_held",
            f"SELECT create_distributed_table('{FIRST}', '{COLUMN}')",
            *(
                f"SELECT create_distributed_table('{one}', '{COLUMN}', colocate_with => '{FIRST}')"
                for one in DISTRIBUTED
                if one != FIRST
            ),
            *(f"SELECT create_reference_table('{table}')" for table in REFERENCE),
        ],
    )
