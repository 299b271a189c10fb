"""A user's own tokens, as lists show them."""

from datetime import datetime

from msgspec import Struct


class HeldToken(Struct, frozen=True):
    """A User Access Token as its owner's list shows it: never its text."""

    jti: str
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    last_address: str
