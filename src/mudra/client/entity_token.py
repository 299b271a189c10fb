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
    """A verified Entity Access Token. `jti` identifies it in logs.

    `bound_to` is the thumbprint of the key that its sender must prove; empty for a plain token.
    """

    entity_id: str
    role: Role
    jti: str
    issuer: str
    subject: str
    audience: tuple[str, ...]
    scope: tuple[str, ...]
    issued_at: datetime
    expires_at: datetime
    bound_to: str = ""
