"""Issue an Entity Access Token to an entity that proved to hold its registered key (RFC 7523)."""

from collections.abc import Callable

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.shared.dpop_proof import DpopProof, ProofInvalid
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.assertion_authenticator import (
    AssertionAuthenticator,
    PresentedAssertion,
)
from mudra.tokens.authentication.client_assertion import AssertionInvalid
from mudra.tokens.authentication.proof_guard import ProofGuard, TooManyProofs
from mudra.tokens.authentication.secret_check import RateLimited
from mudra.tokens.authentication.used_proof_store import UsedProofs
from mudra.tokens.claims import Claims, TokenKind, TokenTerms, bound_claims, entity_claims
from mudra.tokens.issuing.issue_entity_token import BEARER, DPOP, IssuedEntityToken
from mudra.tokens.issuing.token_count_store import TokenCounts
from mudra.tokens.ports import EntityCredentials, Signer
from mudra.tokens.secrets.address_binding import AddressNotListed
from mudra.tokens.secrets.secret import SecretState
from mudra.tokens.secrets.secret_use_store import SecretUses

AssertionTokenOutcome = (
    IssuedEntityToken
    | AssertionInvalid
    | RateLimited
    | AddressNotListed
    | ProofInvalid
    | TooManyProofs
)


class AssertionTokenIssuer(Struct, frozen=True):
    """Issues tokens for client assertions; each is recorded in the transaction that accepts it."""

    authenticator: AssertionAuthenticator
    signer: Signer
    terms: TokenTerms
    new_id: Callable[[], str]
    guard: ProofGuard

    async def issue(
        self, presented: PresentedAssertion, proof: DpopProof | None = None
    ) -> AssertionTokenOutcome:
        """Check the assertion and sign a token; `secret-expiry-ts` is of the current secret.

        The token is bound to the key of a `proof`, which is used up with the assertion.
        """
        await self.signer.ready()
        jti = self.new_id()
        detail: dict[str, str | int] = {"by": "private_key_jwt", "count": 1, "jtis": jti}
        refused: ProofInvalid | TooManyProofs | None = None

        async def record(tx: Transaction, entity: EntityCredentials) -> None:
            nonlocal refused
            if proof is not None:
                refused = await self.guard.store(entity.entity_id, proof, UsedProofs(tx))
            if refused is not None:
                return
            caller = Caller(f"entity:{entity.entity_id}", presented.address, presented.txn_id)
            await SecretUses(tx).add_key_use(entity.entity_id, presented.address)
            await TokenCounts(tx).add(entity.entity_id)
            await AuditLog(tx).append(
                AuditEntry(
                    EventName.ENTITY_TOKEN_ISSUE,
                    caller,
                    entity.entity_id,
                    detail=detail,
                )
            )
            if proof is not None:
                bound = {"jti": jti, "jkt": proof.thumbprint}
                await AuditLog(tx).append(
                    AuditEntry(
                        EventName.ENTITY_TOKEN_BIND, caller, entity.entity_id, detail={**bound}
                    )
                )

        entity = await self.authenticator.authenticate(presented, record)
        if not isinstance(entity, EntityCredentials):
            return entity
        if refused is not None:
            return refused
        current = next(
            one.secret for one in entity.secrets if one.secret.state is SecretState.CURRENT
        )
        claims: Claims = entity_claims(
            self.terms,
            entity_id=entity.entity_id,
            entity_type=entity.entity_type,
            secret_expires_at=current.expires_at,
            jti=jti,
            issued_at=int(self.authenticator.entities.clock().timestamp()),
        )
        if proof is not None:
            claims = bound_claims(claims, proof.thumbprint)
        text = SecretText(self.signer.sign(TokenKind.ENTITY, claims))
        return IssuedEntityToken(text, None, BEARER if proof is None else DPOP)
