"""Issue an Entity Access Token (spec 4.4): the path that must cost little more than a signature."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.shared.secret_text import SecretText
from mudra.tokens.authentication.entity_authenticator import (
    EntityAuthenticator,
    PresentedCredentials,
)
from mudra.tokens.authentication.secret_check import (
    AuthenticatedEntity,
    EntityAuthenticationRefusal,
)
from mudra.tokens.claims import Claims, TokenKind, TokenTerms, entity_claims
from mudra.tokens.ports import EntityTokenLog, Signer

BEARER: Final = "Bearer"
DPOP: Final = "DPoP"


class UnsignedEntityToken(Struct, frozen=True):
    """A token of an authenticated entity, before its signature."""

    presented: PresentedCredentials
    entity: AuthenticatedEntity
    claims: Claims
    jti: str


class IssuedEntityToken(Struct, frozen=True):
    """A signed token; `grace_until` is set when the old secret was used."""

    text: SecretText
    grace_until: datetime | None
    token_type: str = BEARER


class EntityTokenIssuer(Struct, frozen=True):
    """Issues tokens for entity ID and secret; success and refusal are both recorded."""

    authenticator: EntityAuthenticator
    signer: Signer
    log: EntityTokenLog
    terms: TokenTerms
    new_id: Callable[[], str]

    async def issue(
        self, presented: PresentedCredentials
    ) -> IssuedEntityToken | EntityAuthenticationRefusal:
        """Check the secret and sign a token."""
        await self.signer.ready()
        entity = await self.authenticator.authenticate(presented)
        if not isinstance(entity, AuthenticatedEntity):
            return entity
        unsigned = self.unsigned(presented, entity)
        return self.complete(unsigned, self.sign(unsigned))

    def prepare_cached(
        self, presented: PresentedCredentials
    ) -> UnsignedEntityToken | EntityAuthenticationRefusal | None:
        """Do the same from memory up to the signature: `sign` and `complete` follow.

        None, with nothing counted or recorded, when the database must be asked.
        """
        if not self.signer.is_ready():
            return None
        entity = self.authenticator.authenticate_cached(presented)
        if not isinstance(entity, AuthenticatedEntity):
            return entity
        return self.unsigned(presented, entity)

    def sign(self, unsigned: UnsignedEntityToken) -> SecretText:
        """Sign the token: nearly all of the cost."""
        return SecretText(self.signer.sign(TokenKind.ENTITY, unsigned.claims))

    def complete(
        self, unsigned: UnsignedEntityToken, signed: SecretText, token_type: str = BEARER
    ) -> IssuedEntityToken:
        """Record the token as issued."""
        presented, entity = unsigned.presented, unsigned.entity
        self.log.issued(
            presented.entity_id,
            presented.address,
            presented.txn_id,
            version=entity.secret.version,
            in_grace=entity.grace_until is not None,
            jti=unsigned.jti,
        )
        return IssuedEntityToken(signed, entity.grace_until, token_type)

    def unsigned(
        self, presented: PresentedCredentials, entity: AuthenticatedEntity
    ) -> UnsignedEntityToken:
        """Write the claims of a token for an entity that was authenticated."""
        jti = self.new_id()
        claims = entity_claims(
            self.terms,
            entity_id=presented.entity_id,
            entity_type=entity.credentials.entity_type,
            secret_expires_at=entity.secret.expires_at,
            jti=jti,
            issued_at=int(entity.at.timestamp()),
        )
        return UnsignedEntityToken(presented, entity, claims, jti)
