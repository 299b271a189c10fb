"""Issue an Entity Access Token (spec 4.4): the path that must cost little more than a signature.

Pure decision here; the edge brings the credentials from memory, the keyed hash
of what was presented, and the signature.
"""

import hmac
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.shared.refusal import Refusal
from mudra.tokens.ports import EntityCredentials, StoredSecret
from mudra.tokens.secrets.secret import EntitySecret, SecretState

_NO_MAC: Final = bytes(32)


class SecretAccepted(Struct, frozen=True):
    """The presented secret holds; `grace_until` is set when it is the old one."""

    credentials: EntityCredentials
    secret: EntitySecret
    grace_until: datetime | None


class RateLimited(Refusal, frozen=True):
    """Too many requests of this kind; try again after `retry_after_s` seconds."""

    retry_after_s: int


class SecretUnknown(Refusal, frozen=True):
    """Unknown entity, wrong secret, or an entity that is not active: never told apart."""


class SecretExpired(Refusal, frozen=True):
    """The very secret was presented, after its expiry."""

    expired_at: datetime


class SecretGraceEnded(Refusal, frozen=True):
    """The very old secret was presented, after its grace period."""

    ended_at: datetime


SecretVerdict = SecretAccepted | SecretUnknown | SecretExpired | SecretGraceEnded


def judge(
    credentials: EntityCredentials | None, presented_mac: bytes, now: datetime
) -> SecretVerdict:
    """Judge a presented secret by its keyed hash, in time that tells nothing.

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
    return _standing(credentials, match.secret, now)


def _standing(credentials: EntityCredentials, secret: EntitySecret, now: datetime) -> SecretVerdict:
    if secret.state is SecretState.CURRENT:
        if now >= secret.expires_at:
            return SecretExpired(secret.expires_at)
        return SecretAccepted(credentials, secret, None)
    if secret.in_grace(now):
        return SecretAccepted(credentials, secret, secret.grace_until)
    if secret.grace_until is not None:
        return SecretGraceEnded(min(secret.grace_until, now))
    return SecretUnknown()
