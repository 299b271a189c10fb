"""Secrets of a client that move with it, until when, and what is lost. Pure.

An expired secret never lives again. The one before the last rotation stays valid in a grace period,
for 7 days at most; every end that is another one here than there is said.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from mudra.shared.secret_text import SecretText
from mudra.tokens.migration.keycloak_export import ExportedClient, ExportedSecret
from mudra.tokens.secrets.secret import (
    MAX_EXPIRY_DAYS,
    MAX_GRACE_DAYS,
    EntitySecret,
    Rotation,
    first_secret,
    rotate,
    to_millisecond,
)

_SHORT: Final = 20


class StoredFirst(Struct, frozen=True):
    """The first secret of a new member, and what replaces it at once."""

    secret: EntitySecret
    text: SecretText
    replaced_by: tuple[Rotation, SecretText] | None = None


class CarriedSecrets(Struct, frozen=True):
    """The secrets that a new member keeps: without `current` it gets a new secret. `detail` is for people."""

    now: datetime
    current: ExportedSecret | None
    old: ExportedSecret | None
    detail: str

    def stored(self, entity_id: str) -> StoredFirst:
        """Return how they are stored; there must be a current one."""
        assert self.current is not None
        first = first_secret(entity_id, self.now)
        if self.old is None:
            return StoredFirst(_ending(first, self.current), self.current.text)
        old = _ending(first, self.old)
        rotation = rotate(old, self.now, MAX_EXPIRY_DAYS, MAX_GRACE_DAYS)
        rotation = replace(rotation, new=_ending(rotation.new, self.current))
        return StoredFirst(old, self.old.text, (rotation, self.current.text))


def carried_secrets(client: ExportedClient, now: datetime) -> CarriedSecrets:
    """Decide which secrets of a client are valid here from `now` on."""
    current, why = client.secret, client.why
    if current is not None and (ended := _ended(current, now)):
        current, why = None, f"its secret {ended}"
    old, of_old = _old(client, now, is_kept=current is not None)
    if current is None:
        said = f"gets a new secret: {why}"
    else:
        said = f"keeps its secret, {_until(current, now, MAX_EXPIRY_DAYS)}"
        if len(current.text) < _SHORT:
            said += ", which is short: let it be reset soon"
    return CarriedSecrets(now, current, old, "; ".join([said, *of_old, *client.lost]))


def _old(
    client: ExportedClient, now: datetime, *, is_kept: bool
) -> tuple[ExportedSecret | None, Sequence[str]]:
    old = client.rotated
    if old is None:
        return None, ()
    if ended := _ended(old, now):
        return None, (f"its rotated secret {ended}",)
    if not is_kept:
        return None, ("its rotated secret ends with the move",)
    return old, (f"its rotated secret works {_until(old, now, MAX_GRACE_DAYS)}",)


def _ended(secret: ExportedSecret, now: datetime) -> str:
    at = secret.ends_at
    return "" if at is None or at > now else f"ended on {_day(at)}"


def _until(secret: ExportedSecret, now: datetime, days: int) -> str:
    longest = now + timedelta(days=days)
    if secret.ends_at is None:
        return f"until {_day(longest)} (there without an end)"
    if secret.ends_at > longest:
        return f"until {_day(longest)} (there {_day(secret.ends_at)})"
    return f"until {_day(secret.ends_at)}"


def _ending(secret: EntitySecret, exported: ExportedSecret) -> EntitySecret:
    if exported.ends_at is None:
        return secret
    return replace(secret, expires_at=min(secret.expires_at, to_millisecond(exported.ends_at)))


def _day(at: datetime) -> str:
    return f"{at:%Y-%m-%d}"
