"""Revoke one access token (RFC 7009)."""

from typing import Final

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.revocation.issued_token_store import IssuedTokens
from mudra.tokens.revocation.revocation_limit import TooManyRevocations, check_room

ANOTHER_CLIENTS_TOKEN: Final = PlainRefusal(
    RefusalKind.INVALID, "token was issued to another client"
)


async def revoke_entity_token(
    token: VerifiedToken,
    client_id: str,
    caller: Caller,
    tokens: IssuedTokens,
    audit_log: AuditLog,
) -> PlainRefusal | TooManyRevocations | None:
    """Revoke a token of the calling entity; None when it is revoked, now or earlier."""
    refused: PlainRefusal | TooManyRevocations | None
    if token.subject != client_id:
        refused, reason = ANOTHER_CLIENTS_TOKEN, "another-client"
    elif await tokens.entity_token_revoked(token.jti):
        return None
    else:
        refused = check_room(await tokens.lock_listed_tokens(client_id))
        reason = "too-many-revocations"
    if refused is not None:
        await audit_log.append(
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
    if await tokens.revoke_entity_token(token.jti, token.subject, token.expires_at):
        await audit_log.append(
            AuditEntry(
                EventName.ENTITY_TOKEN_REVOKE, caller, token.subject, detail={"jti": token.jti}
            )
        )
    return None


async def revoke_user_token(
    token: VerifiedToken, caller: Caller, tokens: UserTokens, people: People, audit_log: AuditLog
) -> None:
    """Revoke a user's token: anyone who holds it may end it."""
    if await tokens.revoke_user_token(token.jti, await people.now()):
        await audit_log.append(
            AuditEntry(
                EventName.USER_TOKEN_REVOKE,
                caller,
                user_id=token.subject,
                detail={"jti": token.jti},
            )
        )
