"""Issue a User Access Token to a user who has just signed in (spec 4.1)."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator_store import Operators
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.issued_token_store import IssuedTokens, UserTokenRecord
from mudra.tokens.claims import USER_TOKEN_LIFE, Claims, TokenKind, TokenTerms, user_claims
from mudra.tokens.ports import Signer

MAX_LIVE_TOKENS: Final = 100
"""Maximum live User Access Tokens of a user; one more ends the least recently used."""


class UserTokenIssuer(Struct, frozen=True):
    """Issues tokens in two steps, so that no connection waits for the signing keys."""

    signer: Signer
    terms: TokenTerms
    clock: Callable[[], datetime]
    new_id: Callable[[], str]

    async def record(self, tx: Transaction, user: User, caller: Caller, now: datetime) -> Claims:
        """Store the token and its audit entry in the transaction of the sign-in."""
        jti = self.new_id()
        issued = UserTokenRecord(jti, user.user_id, now, now + USER_TOKEN_LIFE, None)
        # The sign-in holds the lock of the name: no two are issued at once.
        for ended in await IssuedTokens(tx).keep_user_token(issued, MAX_LIVE_TOKENS - 1):
            await AuditLog(tx).append(
                AuditEntry(
                    EventName.USER_TOKEN_REVOKE,
                    caller,
                    user_id=user.user_id,
                    reason="too-many-tokens",
                    detail={"jti": ended},
                )
            )
        await People(tx).signed_in(user.user_id, now)
        await AuditLog(tx).append(
            AuditEntry(
                EventName.USER_TOKEN_ISSUE, caller, user_id=user.user_id, detail={"jti": jti}
            )
        )
        scopes = frozenset() if user.is_of_a_member else await Operators(tx).scopes(user.user_id)
        claims = user_claims(
            self.terms,
            user_id=user.user_id,
            email=user.email,
            name=user.name,
            roles="operator" if scopes else "admin",
            entity_ids=user.administers,
            jti=jti,
            issued_at=int(self.clock().timestamp()),
        )
        if scopes:
            # For people and their tools; what counts is read from the database at each call.
            claims["scope"] = " ".join(sorted(scope.value for scope in scopes))
        return claims

    async def sign(self, claims: Claims) -> SecretText:
        """Sign a recorded token, after that transaction."""
        await self.signer.ready()
        return SecretText(self.signer.sign(TokenKind.USER, claims))
