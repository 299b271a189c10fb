"""Authenticate an entity by its registered key instead of its secret (RFC 7523)."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from msgspec import Struct

from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import OpenTransaction, Transaction
from mudra.tokens.authentication.client_assertion import (
    UNKNOWN,
    AssertionInvalid,
    ClientAssertion,
    is_signed_by,
    read_assertion,
)
from mudra.tokens.authentication.entity_authenticator import EntityAuthenticator
from mudra.tokens.authentication.secret_check import RateLimited
from mudra.tokens.ports import EntityCredentials
from mudra.tokens.secrets.address_binding import AddressNotListed
from mudra.tokens.secrets.registered_key_store import RegisteredKeys


class PresentedAssertion(Struct, frozen=True):
    """A client assertion, as a client at `address` presents it."""

    text: SecretText
    address: str
    txn_id: str
    client_id: str = ""
    """What the client calls itself next to it, if it does: the same entity (RFC 7521 4.2)."""


OnAccepted: TypeAlias = Callable[[Transaction, EntityCredentials], Awaitable[None]]
"""Runs in the transaction in which the assertion is accepted."""


async def nothing_more(_: Transaction, __: EntityCredentials) -> None:
    """Do nothing but accept it."""


class AssertionAuthenticator(Struct, frozen=True):
    """Checks client assertions, each of which is accepted once."""

    entities: EntityAuthenticator
    open_transaction: OpenTransaction
    audiences: tuple[str, ...]

    async def authenticate(
        self, presented: PresentedAssertion, on_accepted: OnAccepted = nothing_more
    ) -> EntityCredentials | AssertionInvalid | RateLimited | AddressNotListed:
        """Return the active entity whose live key signed the assertion."""
        checked = await self._known(presented)
        if isinstance(checked, AssertionInvalid | RateLimited):
            return checked
        assertion, entity = checked
        async with self.open_transaction() as tx:
            if not is_signed_by(assertion, await RegisteredKeys(tx).live_key(assertion.entity_id)):
                return self._refused(presented, entity.entity_id)
            foreign = self.entities.address_refused(entity, presented)
            if foreign is not None:
                return foreign
            if not await RegisteredKeys(tx).use_assertion(
                assertion.entity_id, assertion.jti, assertion.expires_at
            ):
                return self._refused(presented, entity.entity_id)
            await on_accepted(tx, entity)
        return entity

    async def _known(
        self, presented: PresentedAssertion
    ) -> tuple[ClientAssertion, EntityCredentials] | AssertionInvalid | RateLimited:
        assertion = read_assertion(presented.text.reveal(), self.audiences, self.entities.clock())
        if isinstance(assertion, AssertionInvalid):
            return assertion
        if presented.client_id not in {"", assertion.entity_id}:
            return AssertionInvalid("client_id must be the sub of the assertion, or be left out")
        limited = self.entities.rate_limited(assertion.entity_id, presented.address)
        if limited is not None:
            return limited
        entity = await self.entities.credentials.find(assertion.entity_id)
        if entity is None or not entity.active:
            return self._refused(presented, entity.entity_id if entity else "")
        return assertion, entity

    def _refused(self, presented: PresentedAssertion, entity_id: str) -> AssertionInvalid:
        self.entities.log.refused(
            entity_id, presented.address, presented.txn_id, "wrong-credentials"
        )
        return UNKNOWN
