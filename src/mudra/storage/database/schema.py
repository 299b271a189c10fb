"""All tables, for the migrations and the test that compares them."""

from mudra.storage.audit import tables as audit_tables
from mudra.storage.database.tables import metadata
from mudra.storage.identity import tables as identity_tables
from mudra.storage.metrics import alarm_tables, announcement_tables, subscription_tables
from mudra.storage.metrics import tables as metrics_tables
from mudra.storage.registry import tables as registry_tables
from mudra.storage.tokens import tables as tokens_tables

__all__ = [
    "alarm_tables",
    "announcement_tables",
    "audit_tables",
    "identity_tables",
    "metadata",
    "metrics_tables",
    "registry_tables",
    "subscription_tables",
    "tokens_tables",
]
