"""Credentials, and what issuing and checking ask of memory and of signing keys."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Protocol, TypeAlias

from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.tokens.claims import Claims, TokenKind
from mudra.tokens.secrets.address_binding import Network
from mudra.tokens.secrets.secret import EntitySecret

# Secrets: every call belongs to the caller's transaction.


class StoredSecret(Struct, frozen=True):
    """A secret as a check needs it: how to recognize it, and whether it is still valid."""

    mac: bytes
    secret: EntitySecret


# Issuing and authentication, from memory where it is valid.


class EntityCredentials(Struct, frozen=True):
    """All that authenticating one entity needs, small enough to keep in memory."""

    entity_id: str
    entity_type: EntityType
    active: bool
    secrets: tuple[StoredSecret, ...]
    tokens_not_before: datetime | None = None
    """Tokens issued before this time ended when the entity was suspended."""
    bound_to: tuple[Network, ...] | None = None
    """The only addresses from which its credentials are accepted; None for all."""

    def accepts(self, issued_at: datetime) -> bool:
        """Return whether a token of the entity, issued then, is valid as far as the entity goes."""
        return self.active and (
            self.tokens_not_before is None or issued_at >= self.tokens_not_before
        )


class CredentialSource(Protocol):
    """The credentials of entities, from memory where it is valid."""

    def get_cached(self, entity_id: str) -> EntityCredentials | None:
        """Return them from memory, or None when the database must be asked."""

    def is_known_absent(self, entity_id: str) -> bool:
        """Return whether memory proves that there is no such entity."""

    async def find(self, entity_id: str) -> EntityCredentials | None:
        """Return them; None when there is no such entity."""


class Revocations(Protocol):
    """The entity tokens that were revoked, from memory where it is valid."""

    async def is_revoked(self, jti: str) -> bool:
        """Return whether a token was revoked."""


class EntityTokenLog(Protocol):
    """Audit of entity tokens, written behind in batches (decision 0002)."""

    def issued(  # each argument is one fact of the record
        self, entity_id: str, address: str, txn_id: str, *, version: int, in_grace: bool, jti: str
    ) -> None:
        """Record a token that was issued; it is stored within a second."""

    def refused(self, entity_id: str, address: str, txn_id: str, reason: str) -> None:
        """Record a refused secret; `entity_id` is empty when there is no such entity."""


# Signing keys.


class Signer(Protocol):
    """The signing keys of this node."""

    def is_ready(self) -> bool:
        """Return whether the keys in memory are valid now."""

    async def ready(self) -> None:
        """Return once the keys in memory are valid."""

    def sign(self, kind: TokenKind, claims: Claims) -> str:
        """Sign claims with the key that signs now; about 0.25 ms of CPU."""

    def signing_kid(self, kind: TokenKind) -> str:
        """Return the ID of the key that signs now."""

    def sign_detached(self, kind: TokenKind, body: bytes) -> str:
        """Sign a response's bytes as a detached JWS (RFC 7515 appendix F, RFC 7797)."""

    def published_kids(self) -> Sequence[str]:
        """Return the IDs of the keys in the JWK Set."""

    def find_key(self, kid: str) -> tuple[TokenKind, RSAKey] | None:
        """Find a published key."""

    def issuer_of(self, kid: str) -> str:
        """Return the other issuer of an imported key; empty for a key of this service."""

    async def jwks(self) -> bytes:
        """Return the published keys as a JWK Set (RFC 7517 5), also without the database."""


class KeyMaterial(Struct, frozen=True):
    """A new key pair."""

    kid: str
    kind: TokenKind
    public_jwk: dict[str, str]
    private_pem: SecretText


NewKey: TypeAlias = Callable[[TokenKind], Awaitable[KeyMaterial]]
"""Makes a key pair, without blocking the event loop for the tens to hundreds of ms it takes."""
