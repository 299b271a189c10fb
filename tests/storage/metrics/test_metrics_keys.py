"""Keys of what belongs to one AA begin with its ID (decision 0119): by the catalogue."""

import psycopg

OF_THE_NETWORK = {"metrics_attribution", "metrics_daily", "metrics_fip_state", "metrics_own_calls"}
OF_AAS = {
    *("metrics_block", "metrics_block_previous", "metrics_receipt", "metrics_push"),
    *("metrics_held", "metrics_received", "metrics_refused", "metrics_stale"),
}
OF_PEOPLE = "metrics_incident"
_FIRST_COLUMNS = """
SELECT t.relname, a.attname FROM pg_class t
JOIN pg_index x ON x.indrelid = t.oid AND x.indisunique
LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
WHERE t.relname LIKE 'metrics\\_%' AND t.relkind IN ('r', 'p') AND NOT t.relispartition
    AND t.relnamespace = current_schema()::regnamespace
UNION
SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid::regclass::text LIKE 'metrics\\_%'
"""


def test_every_key_of_what_belongs_to_an_aa_begins_with_its_id(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection:
        found = connection.execute(_FIRST_COLUMNS).fetchall()

    of_aas = {(table, column) for table, column in found if table not in OF_THE_NETWORK}
    of_aas -= {one for one in of_aas if one[0] == OF_PEOPLE}
    assert {column for _, column in of_aas} == {"aa_id"}
    assert {table for table, _ in of_aas} == OF_AAS
