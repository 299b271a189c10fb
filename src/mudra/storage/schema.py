"""All tables of all rooms, for the migrations and the test that compares them."""

from mudra.storage import (
    alarm_tables,
    audit_tables,
    console_tables,
    key_fetch_tables,
    metrics_tables,
    people_tables,
    registry_tables,
    token_count_tables,
)
from mudra.storage.tables import metadata

__all__ = [
    "alarm_tables",
    "audit_tables",
    "console_tables",
    "key_fetch_tables",
    "metadata",
    "metrics_tables",
    "people_tables",
    "registry_tables",
    "token_count_tables",
]
