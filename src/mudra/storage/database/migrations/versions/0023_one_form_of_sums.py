"""Sums of all FIPs are read packed alone: packs those that are rows, and drops those of pairs.

And what was handed over from a second database, which had the metrics.
"""

from collections.abc import Mapping, Sequence
from typing import cast

import sqlalchemy as sa
from alembic import op

from mudra.metrics.rollup.rollup import Cell, Rollup
from mudra.metrics.rollup.stale import ALL_AAS
from mudra.storage.metrics.copy_rows import long_tag
from mudra.storage.metrics.rollups.packed_rows import EVERY, OF_FIPS, PAIRS
from mudra.storage.metrics.rollups.packed_sums import pack_types
from mudra.storage.metrics.rollups.pair_rows import pack_types_of_pairs
from mudra.storage.metrics.rollups.sums import Row, merged

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_GONE = (
    "DROP TRIGGER IF EXISTS metrics_held_aa ON metrics_held",
    "DROP FUNCTION IF EXISTS metrics_held_aa()",
    "DROP TABLE handover, handover_done, metrics_pair_hour, metrics_pair_day",
    "DELETE FROM service_fact WHERE name ~ '^metrics-(database|moving|restored)$'",
    """
    CREATE OR REPLACE FUNCTION metrics_partition_unit(parent text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE AS $body$
    BEGIN
        IF parent IN ('metrics_raw', 'metrics_previous') THEN
            RETURN 'day';
        ELSIF parent = 'metrics_hour' THEN
            RETURN 'month';
        END IF;
        RAISE EXCEPTION 'this table has no partitions';
    END
    $body$
    """,
)
_SERIES = "SELECT DISTINCT aa_id, tag, at FROM metrics_{grain} ORDER BY at, aa_id, tag"
_ROWS = (
    "SELECT aa_id, fip_id, tag, type,"
    " concat_ws('|', blocks, counts, statuses, data_bytes, longest), distribution"
    " FROM metrics_{grain} WHERE aa_id = :aa_id AND tag = :tag AND at = :at"
)
_ADD = sa.text(
    "INSERT INTO metrics_packed VALUES (:aa_id, :kind, :grain, :at, :tag, :type,"
    " gen_random_uuid(), :sums) ON CONFLICT DO NOTHING"
)


def upgrade() -> None:
    for statement in _GONE:
        op.execute(statement)
    for grain in ("hour", "day"):
        bind, rows = op.get_bind(), sa.text(_ROWS.format(grain=grain))
        for aa_id, tag, at in bind.execute(sa.text(_SERIES.format(grain=grain))).all():
            series = {"aa_id": aa_id, "tag": tag, "at": at}
            cells = _cells(bind.execute(rows, series).all())
            kinds = {OF_FIPS: {EVERY: b"", **pack_types(cells)}}
            if tag == "req" and aa_id != ALL_AAS:
                kinds[PAIRS] = dict(pack_types_of_pairs(cells))
            for kind, types in kinds.items():
                own = {**series, "grain": grain, "kind": kind}
                bind.execute(_ADD, [{**own, "type": code, "sums": types[code]} for code in types])


def _cells(rows: Sequence[sa.Row[tuple[object, ...]]]) -> Mapping[Cell, Rollup]:
    found = [cast("Row", tuple(row)) for row in rows]
    return {Cell(row[0], row[1], long_tag(row[2]), row[3]): merged([row]) for row in found}
