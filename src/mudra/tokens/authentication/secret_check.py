"""Check a presented entity secret (spec 3, 4.4). Pure: credentials, keyed hash and time come in."""

import hmac
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import WAIT_TEXT, ErrorCode, Refusal, RefusalKind
from mudra.shared.time_text import iso_ms
from mudra.tokens.ports import EntityCredentials, StoredSecret
from mudra.tokens.secrets.address_binding import AddressNotListed
from mudra.tokens.secrets.secret import EntitySecret, SecretState

_NO_MAC: Final = bytes(32)


class AuthenticatedEntity(Struct, frozen=True):
    """An active entity that presented a valid secret at an instant.

    `grace_until` is set when the secret is the old one.
    """

    credentials: EntityCredentials
    secret: EntitySecret
    grace_until: datetime | None
    at: datetime


class RateLimited(Refusal, frozen=True):
    """Too many requests of this kind; try again after `retry_after_s` seconds."""

    kind = RefusalKind.LIMITED
    sentence = f"too many requests for this entity from this address; {WAIT_TEXT}"
    retry_after_s: int


class SecretUnknown(Refusal, frozen=True):
    """Unknown entity, wrong secret, or an entity that is not active: all three look alike."""

    kind = RefusalKind.UNAUTHORIZED
    sentence = "id or secret is wrong, or the entity is not active"


class SecretExpired(Refusal, frozen=True):
    """The right secret was presented, after its expiry."""

    kind = RefusalKind.UNAUTHORIZED
    code = ErrorCode.SECRET_EXPIRED
    expired_at: datetime

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return f"the secret expired at {iso_ms(self.expired_at)}; reset it with a User Access Token"


class SecretGraceEnded(Refusal, frozen=True):
    """The right old secret was presented, after its grace period."""

    kind = RefusalKind.UNAUTHORIZED
    code = ErrorCode.SECRET_GRACE_ENDED
    ended_at: datetime

    @property
    def sentence(self) -> str:
        """Returns the text for the caller."""
        return (
            f"the grace period of this old secret ended at {iso_ms(self.ended_at)}; use the new one"
        )


EntityAuthenticationRefusal = (
    RateLimited | SecretUnknown | SecretExpired | SecretGraceEnded | AddressNotListed
)
EntityAuthentication = AuthenticatedEntity | EntityAuthenticationRefusal


def check_secret(
    credentials: EntityCredentials | None, presented_mac: bytes, now: datetime
) -> EntityAuthentication:
    """Check a presented secret by its keyed hash, in time that does not depend on the outcome.

    Every known secret is compared, whichever matches, and an unknown entity
    costs one comparison as well.
    """
    known = credentials.secrets if credentials else ()
    match: StoredSecret | None = None
    for candidate in known:
        if hmac.compare_digest(candidate.mac, presented_mac):
            match = candidate
    if not known:
        hmac.compare_digest(_NO_MAC, presented_mac)
    if credentials is None or match is None or not credentials.active:
        return SecretUnknown()
    secret = match.secret
    if secret.state is SecretState.CURRENT:
        if now >= secret.expires_at:
            return SecretExpired(secret.expires_at)
        return AuthenticatedEntity(credentials, secret, None, now)
    if secret.in_grace(now):
        return AuthenticatedEntity(credentials, secret, secret.grace_until, now)
    if secret.grace_until is not None:
        return SecretGraceEnded(min(secret.grace_until, now))
    return SecretUnknown()
