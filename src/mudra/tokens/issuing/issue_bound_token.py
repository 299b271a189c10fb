"""Issue an Entity Access Token that is bound to a key of its client (RFC 9449 5)."""

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.shared.dpop_proof import PresentedProof, ProofInvalid
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.assertion_authenticator import PresentedAssertion
from mudra.tokens.authentication.client_assertion import AssertionInvalid
from mudra.tokens.authentication.entity_authenticator import PresentedCredentials
from mudra.tokens.authentication.proof_guard import ProofGuard, TooManyProofs
from mudra.tokens.authentication.secret_check import (
    AuthenticatedEntity,
    EntityAuthenticationRefusal,
)
from mudra.tokens.claims import Claims, bound_claims
from mudra.tokens.issuing.issue_by_assertion import AssertionTokenIssuer
from mudra.tokens.issuing.issue_entity_token import (
    DPOP,
    EntityTokenIssuer,
    IssuedEntityToken,
    UnsignedEntityToken,
)

BoundTokenOutcome = (
    IssuedEntityToken
    | EntityAuthenticationRefusal
    | AssertionInvalid
    | ProofInvalid
    | TooManyProofs
)


class BoundTokenIssuer(Struct, frozen=True):
    """Issues tokens for secret or assertion, with a proof of the key they are to be bound to."""

    by_secret: EntityTokenIssuer
    by_assertion: AssertionTokenIssuer
    guard: ProofGuard

    async def issue(
        self, presented: PresentedCredentials | PresentedAssertion, proof: PresentedProof
    ) -> BoundTokenOutcome:
        """Check the credential, then the proof, and sign a token with the key's thumbprint.

        Only who has a right credential makes the service store that a proof was used.
        """
        if isinstance(presented, PresentedAssertion):
            checked = self.guard.check(proof)
            if isinstance(checked, ProofInvalid):
                return checked
            return await self.by_assertion.issue(presented, checked)
        return await self._for_secret(presented, proof)

    async def _for_secret(
        self, presented: PresentedCredentials, proof: PresentedProof
    ) -> BoundTokenOutcome:
        issuer = self.by_secret
        await issuer.signer.ready()
        entity = await issuer.authenticator.authenticate(presented)
        if not isinstance(entity, AuthenticatedEntity):
            return entity
        checked = self.guard.check(proof)
        if isinstance(checked, ProofInvalid):
            return checked
        unsigned = issuer.unsigned(presented, entity)
        claims: Claims = bound_claims(unsigned.claims, checked.thumbprint)

        async def record(tx: Transaction) -> None:
            await AuditLog(tx).append(
                AuditEntry(
                    EventName.ENTITY_TOKEN_BIND,
                    Caller(f"entity:{presented.entity_id}", presented.address, presented.txn_id),
                    presented.entity_id,
                    detail={"jti": unsigned.jti, "jkt": checked.thumbprint},
                )
            )

        used = await self.guard.use(presented.entity_id, checked, record)
        if used is not None:
            return used
        bound = UnsignedEntityToken(presented, entity, claims, unsigned.jti)
        return issuer.complete(bound, issuer.sign(bound), token_type=DPOP)
