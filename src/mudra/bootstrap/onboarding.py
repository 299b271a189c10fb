"""Onboarding across two areas in one transaction: member, admin, first secret."""

import secrets

from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.memberships.onboard import NewMember, Onboarded, OnboardResult, onboard_member
from mudra.shared.ids import fresh_id
from mudra.tokens.secrets.secret import first_secret, new_secret_text
from mudra.unit_of_work import UnitOfWork


async def onboard(new: NewMember, caller: Caller, work: UnitOfWork) -> OnboardResult:
    """Onboard a member, invite its admin, make its first secret (spec 1.2, 1.3)."""
    result = await onboard_member(
        new,
        caller,
        people=work.people,
        links=work.link_service,
        journal=work.journal,
        new_id=fresh_id,
    )
    if isinstance(result, Onboarded) and result.created:
        secret = first_secret(result.member.entity_id, await work.people.now())
        await work.secrets.keep_first(secret, new_secret_text(secrets.token_bytes))
        await work.journal.note(
            AuditEntry(
                EventName.ENTITY_SECRET_CREATE, caller, secret.entity_id, detail={"version": 1}
            )
        )
    return result
