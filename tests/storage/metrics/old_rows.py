"""A row of 2001 in each table of the metrics: what no retention rule keeps."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

_AT: Final = "'2001-01-01 00:00+00'"
_RECEIPT: Final = "'00000000-0000-4000-8000-000000000001'"
_BLOCK: Final = f"{_AT}, {_AT}, 'req', gen_random_uuid(), '', ''"

OLD_ROWS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "metrics_receipt": (
            "(receipt_id, aa_id, tag, window_at, version, txn_id, content_hash, received_at,"
            f" blocks, findings) VALUES ({_RECEIPT}, 'OLD-AA', 'req', {_AT}, 1, 'old', '', {_AT},"
            " 0, '[]')"
        ),
        "metrics_push": f"VALUES ('OLD-AA', 'old', {_RECEIPT})",
        "metrics_held": (
            "(receipt_id, aa_id, buckets, doubt, claimed, plausible, state)"
            f" VALUES ({_RECEIPT}, 'OLD-AA', '', 'calls', 2, 1, 'refused')"
        ),
        "metrics_block": (
            f"VALUES ('OLD-AA', 'window', 1, {_BLOCK}), ('OLD-AA', 'hour', 1, {_BLOCK}),"
            f" ('OLD-AA', 'day', 1, {_BLOCK})"
        ),
        "metrics_block_previous": f"VALUES ('OLD-AA', 'window', 1, {_BLOCK}, 1)",
        "metrics_daily": "VALUES ('2001-01-01', 'F', 'cns', 1, 1, 0, 0, 1, 1, 1)",
        "metrics_received": f"VALUES ({_AT}, 'OLD-AA', 'req', 1)",
        "metrics_refused": (f"(aa_id, at, total, findings) VALUES ('OLD-AA', {_AT}, 1, '[]')"),
        "metrics_stale": (
            f"(grain, aa_id, tag, at, noted_at) VALUES ('window', 'OLD-AA', 'req', {_AT}, {_AT})"
        ),
        "metrics_attribution": f"VALUES ({_AT}, '')",
        "metrics_fip_state": f"VALUES ({_AT}, '', '')",
        "metrics_own_calls": f"VALUES ('hour', {_AT}, ''), ('day', {_AT}, '')",
    }
)
PARTITIONED: Final = (
    *("metrics_block_window", "metrics_block_hour", "metrics_block_day"),
    "metrics_block_previous",
)
_TIME: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(
            ("metrics_receipt", "metrics_attribution", "metrics_fip_state"),
            "window_at < '2002-01-01'",
        ),
        "metrics_daily": "day < '2002-01-01'",
        "metrics_push": "txn_id = 'old'",
        "metrics_held": "aa_id = 'OLD-AA'",
    }
)


def left_of(table: str) -> str:
    """The query that counts what is left of the old row of a table."""
    old = _TIME.get(table, "at < '2002-01-01'")
    return f"SELECT count(*) FROM {table} WHERE {old}"
