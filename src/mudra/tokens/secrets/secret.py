"""The entity secret and its life (spec 3): current, in grace, ended.

At most two secrets are valid at once. A grace period never ends after the secret's
own expiry. Times are truncated to milliseconds, so that stored and displayed ones agree.
"""

import base64
import enum
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Final, TypeAlias

from msgspec import Meta, Struct

from mudra.shared.secret_text import SecretText

MAX_EXPIRY_DAYS: Final = 180
MAX_GRACE_DAYS: Final = 7
ExpiryDays: TypeAlias = Annotated[
    int,
    Meta(
        ge=1,
        le=MAX_EXPIRY_DAYS,
        description=f"a whole number from 1 to {MAX_EXPIRY_DAYS}",
        examples=[90],
    ),
]
GraceDays: TypeAlias = Annotated[
    int,
    Meta(
        ge=0,
        le=MAX_GRACE_DAYS,
        description=f"a whole number from 0 to {MAX_GRACE_DAYS}",
        examples=[7],
    ),
]
_SECRET_BYTES: Final = 32


class SecretState(enum.StrEnum):
    """The state of a secret in its life."""

    CURRENT = "current"
    GRACE = "grace"
    ENDED = "ended"


class EntitySecret(Struct, frozen=True):
    """One secret of an entity without its text.

    `grace_until` and `grace_days`, the whole days that the grace period really lasts,
    are set once it was replaced with a grace period. They stay after that ended, so that a client
    that uses it learns why it fails.
    """

    entity_id: str
    version: int
    state: SecretState
    created_at: datetime
    expires_at: datetime
    grace_until: datetime | None = None
    grace_days: int = 0

    def in_grace(self, now: datetime) -> bool:
        """Return whether this replaced secret may still be used at `now`."""
        return (
            self.state is SecretState.GRACE
            and self.grace_until is not None
            and (now < self.grace_until)
        )


class Rotation(Struct, frozen=True):
    """The changes of a reset: the new current secret, and the previous one after it."""

    new: EntitySecret
    previous: EntitySecret


def new_secret_text(random_bytes: Callable[[int], bytes]) -> SecretText:
    """Make a secret of 256 random bits in unreserved URL characters."""
    raw = random_bytes(_SECRET_BYTES)
    return SecretText(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())


def first_secret(entity_id: str, now: datetime, expiry_days: int = MAX_EXPIRY_DAYS) -> EntitySecret:
    """Make the first secret of an entity, at onboarding."""
    at = to_millisecond(now)
    return EntitySecret(
        entity_id=entity_id,
        version=1,
        state=SecretState.CURRENT,
        created_at=at,
        expires_at=at + timedelta(days=expiry_days),
    )


def rotate(current: EntitySecret, now: datetime, expiry_days: int, keep_days: int) -> Rotation:
    """Replace `current`: it enters a grace period of `keep_days`, or ends at once.

    An expired secret gets no grace period: it no longer works anyway.  # spec 3
    """
    at = to_millisecond(now)
    new = EntitySecret(
        entity_id=current.entity_id,
        version=current.version + 1,
        state=SecretState.CURRENT,
        created_at=at,
        expires_at=at + timedelta(days=expiry_days),
    )
    if keep_days == 0 or current.expires_at <= at:
        return Rotation(new, _ended(current))
    grace_until = min(at + timedelta(days=keep_days), current.expires_at)
    previous = EntitySecret(
        entity_id=current.entity_id,
        version=current.version,
        state=SecretState.GRACE,
        created_at=current.created_at,
        expires_at=current.expires_at,
        grace_until=grace_until,
        grace_days=(grace_until - at).days,
    )
    return Rotation(new, previous)


def _ended(secret: EntitySecret) -> EntitySecret:
    return EntitySecret(
        entity_id=secret.entity_id,
        version=secret.version,
        state=SecretState.ENDED,
        created_at=secret.created_at,
        expires_at=secret.expires_at,
        grace_until=secret.grace_until,
        grace_days=secret.grace_days,
    )


def to_millisecond(at: datetime) -> datetime:
    """Truncate a time to whole milliseconds."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
