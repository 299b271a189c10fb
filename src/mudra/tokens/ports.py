"""What the use cases of this area ask of storage.

Every call belongs to the caller's transaction.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.tokens.issuing.claims import TokenKind
from mudra.tokens.secrets.old_secret_use import SecretUse
from mudra.tokens.secrets.secret import EntitySecret, Rotation
from mudra.tokens.signing_keys.key_lifecycle import SigningKey


class StoredSecret(Struct, frozen=True):
    """A secret as issuing needs it: how to recognise it, and whether it still holds."""

    mac: bytes
    secret: EntitySecret


class EntityCredentials(Struct, frozen=True):
    """All that issuing a token to one entity needs, small enough to keep in memory."""

    entity_id: str
    entity_type: EntityType
    active: bool
    secrets: tuple[StoredSecret, ...]


class SecretHolding(Struct, frozen=True):
    """What a locked entity has: its secrets and when it was reset, by the database's clock."""

    current: EntitySecret
    in_grace: EntitySecret | None
    resets: Sequence[datetime]
    now: datetime


class Secrets(Protocol):
    """Entity secrets at rest."""

    async def locked(self, entity_id: str) -> SecretHolding | None:
        """Lock the entity for this transaction; None when there is no such entity."""

    async def held(self, entity_id: str) -> SecretHolding | None:
        """Read the same without the lock."""

    async def text_of(self, secret: EntitySecret) -> SecretText:
        """Unseal the text of one secret."""

    async def keep_first(self, secret: EntitySecret, text: SecretText) -> None:
        """Store the secret that onboarding made."""

    async def replace(self, rotation: Rotation, text: SecretText) -> None:
        """Store a reset and tell every node before it becomes true."""

    async def end_grace(self, secret: EntitySecret, now: datetime) -> None:
        """End a grace period early and tell every node before it becomes true."""


class SecretUses(Protocol):
    """How secrets were used."""

    async def of(self, entity_id: str, version: int) -> SecretUse:
        """Read the use of one secret."""


class Reminders(Protocol):
    """Which letters about secrets are done."""

    async def candidates(self, expiring_before: datetime, ended_after: datetime) -> Sequence[str]:
        """Entities of which a secret expires by the first, or a grace ended after the second."""

    async def done(self, entity_id: str, version: int) -> Collection[int]:
        """Marks that are done for a secret."""

    async def mark(
        self, entity_id: str, version: int, done: Collection[int], sent: int | None
    ) -> None:
        """Store marks as done; `sent` is the one for which a letter goes out."""


class UserTokenRecord(Struct, frozen=True):
    """A User Access Token as it was issued."""

    jti: str
    user_id: str
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class IssuedTokens(Protocol):
    """What is remembered of tokens: all user tokens, and revoked entity tokens."""

    async def keep_user_token(self, record: UserTokenRecord) -> None:
        """Remember a user token that is about to be handed out."""

    async def user_token(self, jti: str) -> UserTokenRecord | None:
        """Find a user token."""

    async def revoke_user_token(self, jti: str, now: datetime) -> bool:
        """End one user token; False when there was nothing to end."""

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and say how many."""

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""

    async def revoke_entity_token(self, jti: str, entity_id: str, expires_at: datetime) -> bool:
        """Note an entity token as revoked; False when it was already."""

    async def entity_token_revoked(self, jti: str) -> bool:
        """Tell whether an entity token was revoked."""


class SigningKeys(Protocol):
    """Signing keys at rest."""

    async def locked_keys(self) -> Sequence[SigningKey]:
        """Read all keys, holding the lock under which one node plans at a time."""

    async def all_keys(self) -> Sequence[SigningKey]:
        """Read all keys without their private parts."""

    async def keep(self, key: SigningKey, private_pem: SecretText) -> None:
        """Store a new key, its private part sealed."""

    async def appoint(self, kid: str, active_from: datetime) -> None:
        """Fix when a key begins to sign."""

    async def retire(self, kid: str, at: datetime) -> None:
        """Fix when a key stops to sign."""

    async def revoke(self, kid: str, at: datetime) -> None:
        """Drop a key at once, published or not."""

    async def destroy_private(self, kid: str) -> bool:
        """Delete the private part; False when it was gone already."""


class KeyMaterial(Struct, frozen=True):
    """A fresh key pair as its maker hands it over."""

    kid: str
    kind: TokenKind
    public_jwk: dict[str, str]
    private_pem: SecretText
