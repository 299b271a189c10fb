"""Authenticate callers by the access token that they present: entities and users.

Rights are read from storage at each call, never from the token, so that a
change of rights takes effect at once.
"""

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Final

from msgspec import Struct

from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User, UserState
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.shared.dpop_proof import DpopProof, ProofInvalid
from mudra.shared.entity_type import EntityType
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.issued_token_store import IssuedTokens
from mudra.tokens.authentication.proof_guard import PresentedToken, ProofGuard, TooManyProofs
from mudra.tokens.authentication.token_check import (
    LEEWAY_S,
    FindKey,
    TokenExpired,
    TokenInvalid,
    TokenOfOtherKind,
    TokenRevoked,
    TokenVerification,
    VerifiedToken,
    verify_token,
)
from mudra.tokens.claims import TokenKind, TokenTerms
from mudra.tokens.ports import CredentialSource, Revocations, Signer

_MAX_COUNT: Final = 5_000
_LEEWAY: Final = timedelta(seconds=LEEWAY_S)


class VerifiedTokenCache:
    """Verifies tokens, each signature once. Keeps digests and claims, never a token's text."""

    def __init__(
        self,
        terms: TokenTerms,
        find_key: FindKey,
        clock: Callable[[], datetime],
        issuer_of: Callable[[str], str] = lambda _: "",
        most: int = _MAX_COUNT,
    ) -> None:
        self._terms = terms
        self._find_key = find_key
        self._clock = clock
        self._issuer_of = issuer_of
        self._most = most
        self._verified: OrderedDict[bytes, VerifiedToken] = OrderedDict()

    def __len__(self) -> int:
        """Return how many tokens are remembered."""
        return len(self._verified)

    def verify(self, token: SecretText) -> TokenVerification:
        """Return the verified token, or why it is not valid."""
        digest = sha256(token.reveal().encode()).digest()
        cached = self._verified.get(digest)
        now = self._clock()
        if cached is not None and self._is_still_valid(cached, now):
            return cached
        outcome = verify_token(token.reveal(), self._terms, self._find_key, now, self._issuer_of)
        if isinstance(outcome, VerifiedToken):
            self._verified[digest] = outcome
            self._verified.move_to_end(digest)
            if len(self._verified) > self._most:
                self._verified.popitem(last=False)
        else:
            self._verified.pop(digest, None)
        return outcome

    def verified_before(self, token: VerifiedToken) -> TokenVerification:
        """Return what `verify` would of a token that it returned, without its signature."""
        now = self._clock()
        if self._is_still_valid(token, now):
            return token
        ended = now >= token.expires_at + _LEEWAY
        return TokenExpired(token.expires_at) if ended else TokenInvalid()

    def _is_still_valid(self, token: VerifiedToken, now: datetime) -> bool:
        in_time = token.issued_at <= now + _LEEWAY and now < token.expires_at + _LEEWAY
        found = self._find_key(token.kid) if in_time else None
        return found is not None and found[0] is token.kind


BearerRefusal = (
    TokenInvalid | TokenOfOtherKind | TokenExpired | TokenRevoked | ProofInvalid | TooManyProofs
)


class EntityCaller(Struct, frozen=True):
    """An active entity that presented a valid Entity Access Token."""

    entity_id: str
    entity_type: EntityType
    token: VerifiedToken


class AdmittedEntity(Struct, frozen=True):
    """An entity that may act once its proof is used up; none for a token without a key."""

    caller: EntityCaller
    proof: DpopProof | None


class UserCaller(Struct, frozen=True):
    """An active user who presented a valid User Access Token."""

    user: User
    token: VerifiedToken


class BearerAuthenticator(Struct, frozen=True):
    """Checks presented tokens. Nothing here holds a database connection of its own."""

    signer: Signer
    verified: VerifiedTokenCache
    credentials: CredentialSource
    revocations: Revocations
    clock: Callable[[], datetime]
    proofs: ProofGuard

    async def verify(self, token: SecretText) -> TokenVerification:
        """Verify a token's signature, claims and times; revocation and rights come after it."""
        await self.signer.ready()
        return self.verified.verify(token)

    async def verified_before(self, token: VerifiedToken) -> TokenVerification:
        """Verify a token that `verify` returned earlier in a request, but for its signature."""
        await self.signer.ready()
        return self.verified.verified_before(token)

    async def authenticate_entity(
        self, presented: PresentedToken, *of_types: EntityType
    ) -> EntityCaller | BearerRefusal:
        """Authenticate an entity, of one of the types if any are named (spec 2.2).

        A token that is bound to a key needs a proof, which is used up (RFC 9449 7).
        """
        admitted = await self.admit(presented, await self.verify(presented.text), *of_types)
        if not isinstance(admitted, AdmittedEntity):
            return admitted
        return await self.use_proof(admitted)

    async def admit(
        self, presented: PresentedToken, verified: TokenVerification, *of_types: EntityType
    ) -> AdmittedEntity | BearerRefusal:
        """Authenticate an entity by its token, verified already, without using its proof up.

        For what is decided before, such as limits: only the entity itself may use them up.
        """
        caller = await self._entity_of(verified, *of_types)
        if not isinstance(caller, EntityCaller):
            return caller
        proof = self.proofs.unused(presented, caller.token)
        return proof if isinstance(proof, ProofInvalid) else AdmittedEntity(caller, proof)

    async def use_proof(
        self, admitted: AdmittedEntity
    ) -> EntityCaller | ProofInvalid | TooManyProofs:
        """Use the proof of an admitted entity up, if its token needs one."""
        caller, proof = admitted.caller, admitted.proof
        refused = None if proof is None else await self.proofs.use(caller.entity_id, proof)
        return caller if refused is None else refused

    async def entity_of(
        self, token: SecretText, *of_types: EntityType
    ) -> EntityCaller | BearerRefusal:
        """Return whose token it is, without asking who presents it."""
        return await self._entity_of(await self.verify(token), *of_types)

    async def _entity_of(
        self, verified: TokenVerification, *of_types: EntityType
    ) -> EntityCaller | BearerRefusal:
        if not isinstance(verified, VerifiedToken):
            return verified
        if verified.kind is not TokenKind.ENTITY:
            return TokenOfOtherKind("an Entity Access Token")
        if await self.revocations.is_revoked(verified.jti):
            return TokenRevoked()
        credentials = await self.credentials.find(verified.subject)
        if credentials is None or not credentials.active:
            return TokenInvalid()
        if not credentials.accepts(verified.issued_at):
            return TokenRevoked()
        if of_types and credentials.entity_type not in of_types:
            types = " or ".join(of_types)
            return TokenOfOtherKind(f"an Entity Access Token of the type {types}")
        return EntityCaller(verified.subject, credentials.entity_type, verified)

    async def admit_again(self, entity: EntityCaller) -> EntityCaller | BearerRefusal:
        """Authenticate an entity again whose request took long, by what has changed since then.

        A token that expired meanwhile was valid as the request began.
        """
        return await self._entity_of(entity.token, entity.entity_type)

    async def check_again(self, entity: EntityCaller, tokens: IssuedTokens) -> BearerRefusal | None:
        """Refuse an entity that memory let pass and the deciding transaction does not."""
        if await tokens.entity_token_revoked(entity.token.jti):
            return TokenRevoked()
        accepted = await tokens.entity_accepts(entity.entity_id, entity.token.issued_at)
        return None if accepted else TokenInvalid()

    async def introspect(self, token: SecretText) -> VerifiedToken | None:
        """Return an entity's token if it is active at this instant (RFC 7662 2.2)."""
        caller = await self.entity_of(token)
        # Others ask what holds now: the leeway is for clocks that differ from ours.
        if isinstance(caller, EntityCaller) and self.clock() < caller.token.expires_at:
            return caller.token
        return None

    async def authenticate_user(
        self, tx: Transaction, token: TokenVerification, address: str
    ) -> UserCaller | BearerRefusal:
        """Authenticate a user by a verified token; `address` is recorded as that of its last use.

        `verify` comes before the transaction of the ports is opened, since it may need one itself.
        """
        if not isinstance(token, VerifiedToken):
            return token
        if self.clock() >= token.expires_at:  # our own clock needs no leeway
            return TokenExpired(token.expires_at)
        if token.kind is not TokenKind.USER:
            return TokenOfOtherKind("a User Access Token")
        record = await IssuedTokens(tx).user_token(token.jti)
        if record is None or record.user_id != token.subject:
            return TokenInvalid()
        if record.revoked_at is not None:
            return TokenRevoked()
        user = await People(tx).by_id(token.subject)
        if user is None or user.state is not UserState.ACTIVE:
            return TokenInvalid()
        await UserTokens(tx).token_used(token.jti, address)
        return UserCaller(user, token)
