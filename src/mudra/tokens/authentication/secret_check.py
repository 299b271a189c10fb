"""Check a presented entity secret (spec 3, 4.4). Pure: credentials, keyed hash and time come in."""

import hmac
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import Refusal
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

    retry_after_s: int


class SecretUnknown(Refusal, frozen=True):
    """Unknown entity, wrong secret, or an entity that is not active: all three look alike."""


class SecretExpired(Refusal, frozen=True):
    """The right secret was presented, after its expiry."""

    expired_at: datetime


class SecretGraceEnded(Refusal, frozen=True):
    """The right old secret was presented, after its grace period."""

    ended_at: datetime


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
