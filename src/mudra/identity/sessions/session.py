"""Sessions of the console. The rules are pure: times come in.

A session is 256 random bits in a cookie; only their hash is stored. Rights are
never stored in it: they are read from the database at each page.
"""

import enum
import hashlib
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from mudra.shared.secret_text import SecretText

LIFE: Final = timedelta(hours=12)
IDLE: Final = timedelta(hours=1)
UNFINISHED: Final = timedelta(minutes=15)
"""For how long a session waits for the second step of its sign-in."""
RECORD_EVERY: Final = timedelta(minutes=1)


class Stage(enum.StrEnum):
    """The pages that a session opens: everything, or only what is missing from its sign-in."""

    FULL = "full"
    CODE = "code"
    """The password was right, the code is missing: it opens the form for the code alone."""
    ENROLL = "enroll"
    """A second factor must be set up: it opens the pages for that alone."""


class Session(Struct, frozen=True):
    """A session as it is stored. `csrf_token` must come back with every form (CSRF)."""

    key: bytes
    user_id: str
    csrf_token: str
    started_at: datetime
    last_used_at: datetime
    proven_at: datetime
    address: str
    stage: Stage = Stage.FULL

    @property
    def session_id(self) -> str:
        """The ID by which it is listed and ended; it does not authenticate."""
        return self.key.hex()[:16]

    def is_open(self, now: datetime) -> bool:
        """Return whether the session is valid: at most 12 hours, at most one hour without use."""
        if self.stage is not Stage.FULL and now >= self.started_at + UNFINISHED:
            return False
        return now < self.started_at + LIFE and now < self.last_used_at + IDLE

    def is_proven(self, now: datetime, within: timedelta) -> bool:
        """Return whether password or code was typed as lately as that."""
        return self.proven_at <= now < self.proven_at + within


def session_key(cookie: SecretText) -> bytes:
    """Hash the value of the cookie: fast, since it is 256 random bits."""
    return hashlib.sha256(cookie.reveal().encode()).digest()
