"""Authenticate an entity by its ID and secret: the one place where that is done.

It serves token requests (spec 4.4) and OAuth's client credentials, introspection
and revocation. Each presented secret counts against the limit of its entity and
address, and each refused one is recorded for the audit.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from mudra.shared.network_address import address_key
from mudra.shared.secret_text import SecretText
from mudra.shared.waiting.rate_limit import KeyedRateLimit
from mudra.tokens.authentication.secret_check import (
    AuthenticatedEntity,
    EntityAuthentication,
    RateLimited,
    SecretUnknown,
    check_secret,
)
from mudra.tokens.ports import CredentialSource, EntityCredentials, EntityTokenLog
from mudra.tokens.secrets.address_binding import AddressNotListed, is_listed


class Presented(Protocol):
    """A credential of some kind, and where it comes from."""

    @property
    def address(self) -> str:
        """The client's address."""
        ...

    @property
    def txn_id(self) -> str:
        """The transaction ID of the request."""
        ...


class PresentedCredentials(Struct, frozen=True):
    """An entity ID and a secret, as a client at `address` presents them."""

    entity_id: str
    secret: SecretText
    address: str
    txn_id: str


class EntityAuthenticator(Struct, frozen=True):
    """Checks presented secrets."""

    credentials: CredentialSource
    rate_limit: KeyedRateLimit
    secret_mac: Callable[[str, SecretText], bytes]
    log: EntityTokenLog
    clock: Callable[[], datetime]

    def authenticate_cached(self, presented: PresentedCredentials) -> EntityAuthentication | None:
        """Authenticate from memory alone.

        None, with nothing counted or recorded, when the database must be asked. That does not
        depend on whether the entity exists or the secret is right, so time reveals neither.
        """
        credentials = self.credentials.get_cached(presented.entity_id)
        if credentials is None and not self.credentials.is_known_absent(presented.entity_id):
            return None
        return self.rate_limited(presented.entity_id, presented.address) or self._check(
            presented, credentials
        )

    async def authenticate(self, presented: PresentedCredentials) -> EntityAuthentication:
        """Authenticate, asking the database where memory does not know."""
        return self.rate_limited(presented.entity_id, presented.address) or self._check(
            presented, await self.credentials.find(presented.entity_id)
        )

    def rate_limited(self, entity_id: str, address: str) -> RateLimited | None:
        """Count an attempt of an entity from an address; says when there are too many."""
        key = f"{entity_id}\0{address_key(address)}"
        wait_s = self.rate_limit.wait_s(key)
        return RateLimited(wait_s) if wait_s else None

    def _check(
        self, presented: PresentedCredentials, credentials: EntityCredentials | None
    ) -> EntityAuthentication:
        mac = self.secret_mac(presented.entity_id, presented.secret)
        outcome = check_secret(credentials, mac, self.clock())
        if not isinstance(outcome, AuthenticatedEntity):
            reason = "wrong-credentials" if isinstance(outcome, SecretUnknown) else "secret-ended"
            known_id = presented.entity_id if credentials else ""
            self.log.refused(known_id, presented.address, presented.txn_id, reason)
            return outcome
        return self.address_refused(outcome.credentials, presented) or outcome

    def address_refused(
        self, entity: EntityCredentials, presented: Presented
    ) -> AddressNotListed | None:
        """Refuse an entity whose right credential comes from where it is not accepted."""
        bound_to = entity.bound_to
        if bound_to is None or is_listed(presented.address, bound_to):
            return None
        entity_id, address = entity.entity_id, presented.address
        self.log.refused(entity_id, address, presented.txn_id, "address-not-listed")
        return AddressNotListed(entity_id, address)
