"""Revoke one access token (RFC 7009)."""

from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.storage.database.transaction import Transaction
from mudra.tokens.authentication.issued_token_store import IssuedTokens
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.revocation.revocation_limit import TooManyRevocations, check_room

ANOTHER_CLIENTS_TOKEN: Final = PlainRefusal(
    RefusalKind.INVALID, "token was issued to another client"
)


async def revoke_entity_token(
    tx: Transaction, token: VerifiedToken, client_id: str, caller: Caller
) -> PlainRefusal | TooManyRevocations | None:
    """Revoke a token of the calling entity; None when it is revoked, now or earlier."""
    refused: PlainRefusal | TooManyRevocations | None
    if token.subject != client_id:
        refused, reason = ANOTHER_CLIENTS_TOKEN, "another-client"
    elif await IssuedTokens(tx).entity_token_revoked(token.jti):
        return None
    else:
        refused = check_room(await IssuedTokens(tx).lock_listed_tokens(client_id))
        reason = "too-many-revocations"
    if refused is not None:
        await AuditLog(tx).append(
            AuditEntry(
                EventName.ENTITY_TOKEN_REVOKE,
                caller,
                client_id,
                reason=reason,
                detail={"jti": token.jti},
                outcome=Outcome.REFUSED,
            )
        )
        return refused
    if await IssuedTokens(tx).revoke_entity_token(token.jti, token.subject, token.expires_at):
        await AuditLog(tx).append(
            AuditEntry(
                EventName.ENTITY_TOKEN_REVOKE, caller, token.subject, detail={"jti": token.jti}
            )
        )
    return None


async def revoke_user_token(tx: Transaction, token: VerifiedToken, caller: Caller) -> None:
    """Revoke a user's token: anyone who holds it may end it."""
    if await UserTokens(tx).revoke_user_token(token.jti, await People(tx).now()):
        await AuditLog(tx).append(
            AuditEntry(
                EventName.USER_TOKEN_REVOKE,
                caller,
                user_id=token.subject,
                detail={"jti": token.jti},
            )
        )
