"""Revoke one access token (RFC 7009)."""

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.audit.ports import AuditLog
from mudra.identity.ports import People
from mudra.tokens.authentication.token_check import VerifiedToken
from mudra.tokens.ports import IssuedTokens


async def revoke_entity_token(
    token: VerifiedToken, caller: Caller, tokens: IssuedTokens, audit_log: AuditLog
) -> None:
    """Revoke a token of the calling entity."""
    if await tokens.revoke_entity_token(token.jti, token.subject, token.expires_at):
        await audit_log.append(
            AuditEntry(
                EventName.ENTITY_TOKEN_REVOKE, caller, token.subject, detail={"jti": token.jti}
            )
        )


async def revoke_user_token(
    token: VerifiedToken, caller: Caller, tokens: IssuedTokens, people: People, audit_log: AuditLog
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
