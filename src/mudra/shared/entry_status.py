"""The statuses of a registry entry and of its versions."""

import enum


class EntityStatus(enum.StrEnum):
    """The status of an entity as a whole."""

    UNLISTED = "unlisted"
    """Submitted, and never live."""
    LIVE = "live"
    SUSPENDED = "suspended"
    RETIRED = "retired"


class VersionStatus(enum.StrEnum):
    """The status of one version of an entry."""

    SUBMITTED = "submitted"
    APPROVED = "approved"
    """Approved from a time that has not come."""
    LIVE = "live"
    REJECTED = "rejected"
    WITHDRAWN = "withdrawn"
    """A newer version took its place before it was ever live."""
    SUPERSEDED = "superseded"
    """It was live; a newer version is."""


PENDING = frozenset({VersionStatus.SUBMITTED, VersionStatus.APPROVED})
