"""Statements that put `aa_id` first in the keys of the metrics.

Migration 0007 runs them, and on large tables an operator; none of them is ever changed.
"""

from typing import Final, NamedTuple


class NewKeys(NamedTuple):
    """Tables that must change together, and how."""

    tables: tuple[str, ...]
    statements: tuple[str, ...]


def _primary_key(table: str, *columns: str) -> str:
    key = f"pk_{table}"
    named = ", ".join(columns)
    return f"ALTER TABLE {table} DROP CONSTRAINT {key}, ADD CONSTRAINT {key} PRIMARY KEY ({named})"


_OF_RECEIPT: Final = (
    "FOREIGN KEY (aa_id, receipt_id) REFERENCES metrics_receipt (aa_id, receipt_id)"
)
_GOES_WITH_IT: Final = f"{_OF_RECEIPT} ON DELETE CASCADE"
_CELL: Final = ("tag", "fip_id", "type")

NEW_KEYS: Final = (
    NewKeys(
        ("metrics_raw",),
        (
            _primary_key("metrics_raw", "aa_id", "window_at", *_CELL),
            "CREATE INDEX ix_metrics_raw_window_at ON metrics_raw (window_at)",
        ),
    ),
    NewKeys(
        ("metrics_previous",),
        (_primary_key("metrics_previous", "aa_id", "window_at", *_CELL, "version"),),
    ),
    NewKeys(
        ("metrics_hour",),
        (
            _primary_key("metrics_hour", "aa_id", "at", *_CELL),
            "CREATE INDEX ix_metrics_hour_at ON metrics_hour (at)",
        ),
    ),
    NewKeys(
        ("metrics_day",),
        (
            _primary_key("metrics_day", "aa_id", "at", *_CELL),
            "CREATE INDEX ix_metrics_day_at ON metrics_day (at)",
        ),
    ),
    NewKeys(
        ("metrics_pair_hour",),
        (
            _primary_key("metrics_pair_hour", "aa_id", "at", "type", "fip_id"),
            "CREATE INDEX ix_metrics_pair_hour_at ON metrics_pair_hour (at, type)",
        ),
    ),
    NewKeys(
        ("metrics_pair_day",),
        (
            _primary_key("metrics_pair_day", "aa_id", "at", "type", "fip_id"),
            "CREATE INDEX ix_metrics_pair_day_at ON metrics_pair_day (at, type)",
        ),
    ),
    NewKeys(
        ("metrics_received",),
        (
            _primary_key("metrics_received", "aa_id", "at", "tag"),
            "CREATE INDEX ix_metrics_received_at ON metrics_received (at)",
        ),
    ),
    NewKeys(
        ("metrics_receipt", "metrics_held", "metrics_push"),
        (
            "ALTER TABLE metrics_held DROP CONSTRAINT fk_metrics_held_receipt_id",
            "ALTER TABLE metrics_push DROP CONSTRAINT fk_metrics_push_receipt_id",
            _primary_key("metrics_receipt", "aa_id", "receipt_id"),
            "CREATE INDEX ix_metrics_receipt_receipt_id ON metrics_receipt (receipt_id)",
            _primary_key("metrics_held", "aa_id", "receipt_id"),
            f"ALTER TABLE metrics_held ADD CONSTRAINT fk_metrics_held_aa_id {_GOES_WITH_IT}",
            "CREATE INDEX ix_metrics_push_receipt_id ON metrics_push (aa_id, receipt_id)",
            f"ALTER TABLE metrics_push ADD CONSTRAINT fk_metrics_push_aa_id {_OF_RECEIPT}",
        ),
    ),
    NewKeys(("metrics_refused",), (_primary_key("metrics_refused", "aa_id", "id"),)),
    NewKeys(
        ("metrics_stale",),
        (
            _primary_key("metrics_stale", "aa_id", "id"),
            "CREATE INDEX ix_metrics_stale_id ON metrics_stale (id)",
        ),
    ),
)
