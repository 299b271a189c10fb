"""The content of a verified token."""

import enum
from datetime import datetime

import msgspec


class Role(enum.StrEnum):
    """The role of an entity in the network."""

    AA = "AA"
    FIP = "FIP"
    FIU = "FIU"


class EntityToken(msgspec.Struct, frozen=True, kw_only=True):
    """A verified Entity Access Token."""

    entity_id: str
    """Who calls."""
    role: Role
    """What the caller is in the network."""
    jti: str
    """Identifies the token in logs."""
    issuer: str
    """Who issued it, as your verifier expects."""
    subject: str
    """`sub` of the token: the entity ID."""
    audience: tuple[str, ...]
    """For whom it is."""
    scope: tuple[str, ...]
    """What it is for."""
    issued_at: datetime
    """When it was issued, in UTC."""
    expires_at: datetime
    """When it ends, in UTC."""
    bound_to: str = ""
    """Thumbprint of the key that its sender must prove; empty for a plain token."""
