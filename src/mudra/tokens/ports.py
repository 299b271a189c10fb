"""What the use cases of this area ask of storage, memory and signing keys."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Protocol, TypeAlias

from joserfc.jwk import RSAKey
from msgspec import Struct

from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.tokens.issuing.claims import Claims, TokenKind
from mudra.tokens.revocation.revocation_limit import ListedTokens
from mudra.tokens.secrets.address_binding import ChosenBinding, Network
from mudra.tokens.secrets.foreign_addresses import EntityUse
from mudra.tokens.secrets.old_secret_use import SecretUse
from mudra.tokens.secrets.secret import EntitySecret, Rotation
from mudra.tokens.signing_keys.key_lifecycle import SigningKey

# Secrets: every call belongs to the caller's transaction.


class StoredSecret(Struct, frozen=True):
    """A secret as a check needs it: how to recognize it, and whether it is still valid."""

    mac: bytes
    secret: EntitySecret


class SecretHolding(Struct, frozen=True):
    """What an entity has: its secrets and when it was reset, by the database's clock."""

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

    async def text_of(self, secret: EntitySecret) -> SecretText | None:
        """Decrypt the text of one secret; None when it has ended since it was read."""

    async def keep_first(self, secret: EntitySecret, text: SecretText) -> None:
        """Store the secret that onboarding made."""

    async def replace(self, rotation: Rotation, text: SecretText) -> None:
        """Store a reset; no node accepts the previous state after the commit."""

    async def end_grace(self, secret: EntitySecret, now: datetime) -> None:
        """End a grace period early; no node accepts the old secret after the commit."""


class SecretUses(Protocol):
    """How secrets were used."""

    async def of(self, entity_id: str, version: int) -> SecretUse:
        """Read the use of one secret."""

    async def since(self, at: datetime, entity_id: str = "") -> Sequence[EntityUse]:
        """Read which addresses used the credentials of which entities since then, or of one."""

    async def add_key_use(self, entity_id: str, address: str) -> None:
        """Count a token that the registered key got: as version 0, which no secret has."""


class Reminders(Protocol):
    """Which emails about secrets are done."""

    async def candidates(self, expiring_before: datetime, ended_after: datetime) -> Sequence[str]:
        """Entities of which a secret expires by the first, or a grace ended after the second."""

    async def done(self, entity_id: str, version: int) -> Collection[int]:
        """Marks that are done for a secret."""

    async def mark(
        self, entity_id: str, version: int, done: Collection[int], sent: int | None
    ) -> None:
        """Store marks as done; `sent` is the one for which an email is sent."""


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


class SignedList(Struct, frozen=True):
    """The revocation list as it is sent."""

    body: bytes
    signature: str
    """A detached JWS over the body (RFC 7797)."""


class RevocationLists(Protocol):
    """The revocation list, from memory where it is valid."""

    async def current(self) -> SignedList:
        """Return a list that is seconds old at most and has every committed revocation."""


class EntityTokenLog(Protocol):
    """Audit of entity tokens, written behind in batches (decision 0002)."""

    def issued(  # each argument is one fact of the record
        self, entity_id: str, address: str, txn_id: str, *, version: int, in_grace: bool, jti: str
    ) -> None:
        """Record a token that was issued; it is stored within a second."""

    def refused(self, entity_id: str, address: str, txn_id: str, reason: str) -> None:
        """Record a refused secret; `entity_id` is empty when there is no such entity."""


class UserTokenRecord(Struct, frozen=True):
    """A User Access Token as it was issued."""

    jti: str
    user_id: str
    issued_at: datetime
    expires_at: datetime
    revoked_at: datetime | None


class IssuedTokens(Protocol):
    """What is remembered of tokens: all user tokens, and revoked entity tokens."""

    async def keep_user_token(self, record: UserTokenRecord, others: int) -> Sequence[str]:
        """Store a user token that is about to be returned; end others beyond so many.

        The least recently used end first, and none that was used within a day before one that
        was not. Returns the jti of each that has ended.
        """

    async def user_token(self, jti: str) -> UserTokenRecord | None:
        """Find a user token."""

    async def revoke_user_token(self, jti: str, now: datetime) -> bool:
        """End one user token; False when there was nothing to end."""

    async def revoke_user_tokens(self, user_id: str, now: datetime) -> int:
        """End all tokens of a user and return how many."""

    async def revoke_one(self, user_id: str, jti: str, now: datetime) -> bool:
        """End one token of a user; False when it is not theirs or has ended already."""

    async def lock_listed_tokens(self, entity_id: str) -> ListedTokens:
        """Count what the revocation list has, and let no other call revoke for this entity."""

    async def revoke_entity_token(self, jti: str, entity_id: str, expires_at: datetime) -> bool:
        """Store an entity token as revoked; False when it was already."""

    async def entity_token_revoked(self, jti: str) -> bool:
        """Return whether an entity token was revoked, from the database."""

    async def entity_accepts(self, entity_id: str, issued_at: datetime) -> bool:
        """Return whether an entity is active, and its tokens of that time have not ended."""


class DayCount(Struct, frozen=True):
    """Entity Access Tokens issued on one day of UTC."""

    day: date
    count: int


class TokenCounts(Protocol):
    """How many tokens an entity was issued, by day."""

    async def by_day(self, entity_id: str, since: date) -> Sequence[DayCount]:
        """Return the days since then on which the entity got any, in order."""

    async def add(self, entity_id: str) -> None:
        """Count one token issued today."""


class RegisteredKeys(Protocol):
    """The keys of members' live entries, and the assertions that they signed."""

    async def live_key(self, entity_id: str) -> Mapping[str, str] | None:
        """Return the key of an active entity's live entry as a JWK; None without such an entry."""

    async def listed_addresses(self, entity_id: str) -> Sequence[str]:
        """Return the `ips` of the entity's live entry; none without such an entry."""

    async def live_addresses(self) -> Mapping[str, Sequence[str]]:
        """Return the `ips` of all live entries by entity."""

    async def use_assertion(self, entity_id: str, jti: str, expires_at: datetime) -> bool:
        """Store that an assertion was used; False when it was already."""


class AddressBindings(Protocol):
    """Which entities' credentials work from listed addresses alone, in the caller's transaction."""

    async def now(self) -> datetime:
        """Return the service's time."""

    async def of(self, entity_id: str) -> ChosenBinding | None:
        """Return the binding of an entity; None when there is no such entity."""

    async def locked(self, entity_id: str) -> ChosenBinding | None:
        """Return it and hold the entity's lock for this transaction."""

    async def switches(self, entity_id: str, since: datetime) -> Sequence[datetime]:
        """Return when admins of an entity switched its binding, by the audit."""

    async def keep(self, entity_id: str, chosen: ChosenBinding) -> None:
        """Store it; no node checks by the previous one after the commit."""

    async def chosen(self) -> Mapping[str, ChosenBinding]:
        """Return the bindings that are other than the network's, by entity."""


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


class SigningKeys(Protocol):
    """Signing keys at rest, in the caller's transaction."""

    async def locked_keys(self) -> Sequence[SigningKey]:
        """Read all keys, holding the lock under which one node plans at a time."""

    async def all_keys(self) -> Sequence[SigningKey]:
        """Read all keys without their private parts."""

    async def keep(self, key: SigningKey, private_pem: SecretText) -> None:
        """Store a new key, its private part encrypted."""

    async def keep_imported(self, key: SigningKey) -> None:
        """Store the public key of another issuer, or the new end of one that is known."""

    async def appoint(self, kid: str, active_from: datetime) -> None:
        """Set when a key begins to sign."""

    async def retire(self, kid: str, at: datetime | None) -> None:
        """Set when a key stops signing; None for one that signs on, without a successor."""

    async def revoke(self, kids: Collection[str], at: datetime) -> None:
        """Drop keys at once, published or not."""

    async def destroy_private(self, kid: str) -> bool:
        """Delete the private part; False when it was gone already."""


class KeyMaterial(Struct, frozen=True):
    """A new key pair."""

    kid: str
    kind: TokenKind
    public_jwk: dict[str, str]
    private_pem: SecretText


NewKey: TypeAlias = Callable[[TokenKind], Awaitable[KeyMaterial]]
"""Makes a key pair, without blocking the event loop for the tens to hundreds of ms it takes."""


class KeyFetch(Struct, frozen=True):
    """How often a member fetched a published key.

    Who fetched is known by the address alone, as the registry's live entries list it;
    `entity_id` is empty for all other addresses together.
    """

    kid: str
    entity_id: str
    count: int
    first_at: datetime
    last_at: datetime


class KeyFetches(Protocol):
    """The counts of key fetches, in the caller's transaction."""

    async def fetches(self) -> Sequence[KeyFetch]:
        """Return all counts, by key and entity."""


class KeyFetchLog(Protocol):
    """Counts fetches of the published keys, written behind in batches."""

    def append(self, kids: Sequence[str], address: str) -> None:
        """Count one fetch of these keys; it is stored within seconds."""
