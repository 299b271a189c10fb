"""All tables, for the migrations and the test that compares them."""

from mudra.storage.tables import (
    alarms,
    announcements,
    audit,
    disputes,
    identity,
    levels,
    metrics,
    registry,
    service,
    subscriptions,
    tokens,
)
from mudra.storage.tables.metadata import metadata

__all__ = [
    "alarms",
    "announcements",
    "audit",
    "disputes",
    "identity",
    "levels",
    "metadata",
    "metrics",
    "registry",
    "service",
    "subscriptions",
    "tokens",
]
