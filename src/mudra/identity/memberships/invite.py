"""Invite someone to become an admin of an entity; accept or decline such an invitation.

A hand-over is an invitation too: who accepts it takes the role of the one who leaves, who is an
admin until then (0131).
"""

from msgspec import Struct

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_address import AddressRefused, NameRefused, normalize_email
from mudra.identity.accounts.email_link import LinkFault, LinkPurpose, LinkRefused, token_hash
from mudra.identity.accounts.first_role import end_earlier_sign_ins
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.invitation import (
    Invitation,
    Invitee,
    TooManyInvitations,
    invited_name,
    may_invite,
)
from mudra.identity.memberships.member import Member, Recipient, Role, has_role
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.ports import IdentityUnitOfWork
from mudra.shared.notice import Notice, NoticeKind
from mudra.shared.refusal import ValueRefused
from mudra.shared.secret_text import SecretText


class InvitationHolder(Struct, frozen=True):
    """Who holds a valid invitation; `user.user_id` is empty for a person without an account."""

    invitation: Invitation
    user: User


async def invite(
    work: IdentityUnitOfWork, inviter: User, caller: Caller, member: Member, invitee: Invitee
) -> Invitation | ValueRefused | TooManyInvitations:
    """Send an invitation and notify the entity's admins; an earlier one to the address ends.

    Nothing is read of the person invited: work and answer are the same for every address.
    """
    address = normalize_email(invitee.email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    shown = invited_name(invitee.name)
    if isinstance(shown, NameRefused):
        return ValueRefused("name", shown.problem)
    now, entity_id = await work.people.now(), member.entity_id
    refused = may_invite(await work.invitations.sent(entity_id), now)
    if refused is not None:
        await work.audit_log.append(
            AuditEntry(
                EventName.USER_ACCOUNT_CHANGE,
                caller,
                entity_id,
                reason="too-many-invitations",
                outcome=Outcome.REFUSED,
            )
        )
        return refused
    url, link = work.link_factory.create(
        user_id="", address=address, purpose=LinkPurpose.INVITE, now=now
    )
    invitation = Invitation(
        invitation_id=work.people.new_id(),
        entity_id=entity_id,
        entity_name=member.name,
        email=address,
        name=shown or address,
        invited_by=inviter.user_id,
        created_at=now,
        expires_at=link.expires_at,
        token_hash=link.token_hash,
        takes_over=invitee.takes_over,
        role=invitee.role,
    )
    await work.invitations.add(invitation)
    await _send(work, inviter, invitation, url)
    change = "hand-over-invited" if invitation.takes_over else f"{invitation.role}-invited"
    await _record(work, caller, invitation, change, invitation.takes_over)
    return invitation


async def invitation_of_link(
    work: IdentityUnitOfWork, token: SecretText
) -> InvitationHolder | LinkRefused:
    """Find who was invited by a link, consuming nothing."""
    invitation = await work.invitations.find(token_hash(token))
    if invitation is None:
        return LinkRefused(LinkFault.UNKNOWN)
    if invitation.ended_at is not None:
        return LinkRefused(await _why_ended(work, invitation))
    if await work.people.now() >= invitation.expires_at:
        return LinkRefused(LinkFault.EXPIRED)
    # Asked again: no one gives a right that they have lost.
    admins = await work.memberships.admins(invitation.entity_id)
    if not has_role(admins, invitation.invited_by):
        return LinkRefused(LinkFault.WITHDRAWN)
    user = await work.people.by_username(invitation.email)
    if user is None:
        entities = ((invitation.entity_id,), (invitation.entity_name,))
        state = UserState.INVITED
        user = User("", invitation.email, invitation.name, state, None, *entities)
    if user.state is UserState.DISABLED:
        return LinkRefused(LinkFault.UNKNOWN)
    return InvitationHolder(invitation, user)


async def accept(
    work: IdentityUnitOfWork, holder: InvitationHolder, caller: Caller
) -> User | WrongAccountKind:
    """Give the person the role in the entity, with a new account where there is none.

    By a hand-over the one who leaves loses the role in the same transaction.
    """
    # So that no operator's account becomes an admin's at the same moment.
    await work.memberships.lock_operators()
    invitation = holder.invitation
    user = await work.people.by_username(invitation.email)
    if user is not None and await work.memberships.scopes(user.user_id):
        return WrongAccountKind()
    if user is None:
        user = User(
            work.people.new_id(), invitation.email, invitation.name, UserState.INVITED, None, ()
        )
        await work.people.add_user(user)
        await work.audit_log.append(
            AuditEntry(
                EventName.USER_ACCOUNT_ONBOARD,
                caller,
                invitation.entity_id,
                user_id=user.user_id,
            )
        )
    elif not user.is_of_a_member:
        await end_earlier_sign_ins(work, user, caller)
    await work.invitations.end(invitation.invitation_id, await work.people.now(), accepted=True)
    if invitation.role is Role.READER:
        return await _let_read(work, caller, invitation, user)
    if invitation.entity_id not in user.administers:
        await work.people.add_admin(invitation.entity_id, user.user_id)
        giver = invitation.invited_by
        await work.memberships.record_grant(user.user_id, giver, invitation.entity_id)
        await _record(work, caller, invitation, "admin-added", user.user_id)
    await _end_role_handed_over(work, caller, invitation, user)
    return user


async def decline(work: IdentityUnitOfWork, holder: InvitationHolder, caller: Caller) -> None:
    """End an invitation with its link, as the invited person wants, and inform the inviter.

    A hand-over that is declined leaves the role where it is. Both may invite again.
    """
    invitation = holder.invitation
    await work.invitations.end(invitation.invitation_id, await work.people.now(), accepted=False)
    await _record(work, caller, invitation, "invitation-declined", holder.user.user_id)
    inviter = await work.people.by_id(invitation.invited_by)
    if inviter is not None:
        facts = {
            "user_name": inviter.name,
            "entity_id": invitation.entity_id,
            "entity_name": invitation.entity_name,
            "invited": invitation.email,
            **_kind(invitation),
        }
        await work.outbox.post(Notice(inviter.email, NoticeKind.INVITATION_DECLINED, facts))


async def _let_read(
    work: IdentityUnitOfWork, caller: Caller, invitation: Invitation, user: User
) -> User:
    """Let someone see the entity; who has become its admin meanwhile does already."""
    if not user.sees(invitation.entity_id):
        await work.memberships.add_reader(invitation.entity_id, user.user_id)
        await _record(work, caller, invitation, "reader-added", user.user_id)
    return user


async def _end_role_handed_over(
    work: IdentityUnitOfWork, caller: Caller, invitation: Invitation, successor: User
) -> None:
    """Take the role of the admin who handed it over to `successor`, and inform all of them.

    Not one's own: an account that got the invited address meanwhile has nothing to take over.
    """
    entity_id, leaving_id = invitation.entity_id, invitation.takes_over
    admins = await work.memberships.admins(entity_id)
    leaving = next((one for one in admins if one.user_id == leaving_id), None)
    if leaving is None or leaving_id == successor.user_id:
        return
    await end_invitations_of(work, entity_id, leaving_id, leaving.email)
    await work.memberships.remove_admin(entity_id, leaving_id)
    await _record(work, caller, invitation, "admin-removed", leaving_id)
    facts = {"leaving": leaving.email, "successor": successor.email}
    notices = NoticeService(work.memberships, work.outbox)
    also = [Recipient(leaving.email, leaving.name)]
    await notices.notify(entity_id, NoticeKind.ADMIN_HANDED_OVER, facts, also)


async def _why_ended(work: IdentityUnitOfWork, invitation: Invitation) -> LinkFault:
    if invitation.accepted:
        return LinkFault.USED
    pending = await work.invitations.pending(invitation.entity_id)
    is_replaced = any(one.email == invitation.email for one in pending)
    return LinkFault.VOIDED if is_replaced else LinkFault.WITHDRAWN


async def end_invitations_of(
    work: IdentityUnitOfWork, entity_id: str, user_id: str, email: str
) -> None:
    """End what an admin whose role ends has sent, hand-overs among them, and what they were sent.

    Whom they have invited must not become an admin in their place; and who was invited before an
    operator added them must not come back by that earlier link.
    """
    now = await work.people.now()
    for one in await work.invitations.pending(entity_id):
        if user_id in {one.invited_by, one.takes_over} or one.email == email:
            await work.invitations.end(one.invitation_id, now, accepted=False)


async def end_invitations_everywhere(work: IdentityUnitOfWork, user: User) -> None:
    """End what a person has sent and was sent, at each entity of theirs, readers' ones too."""
    for entity_id in sorted({*user.administers, *user.reads}):
        # An invitation that is under way holds the member: it is stored before, or refused after.
        await work.people.member(entity_id)
        await end_invitations_of(work, entity_id, user.user_id, user.email)


async def _record(
    work: IdentityUnitOfWork, caller: Caller, invitation: Invitation, change: str, user_id: str
) -> None:
    await work.audit_log.append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            invitation.entity_id,
            user_id=user_id,
            detail={"change": change, "invitation": invitation.invitation_id},
        )
    )


async def _send(
    work: IdentityUnitOfWork, inviter: User, invitation: Invitation, url: SecretText
) -> None:
    facts: dict[str, str | SecretText] = {
        "user_name": invitation.name,
        "entity_name": invitation.entity_name,
        "invited_by": inviter.email,
        "link": url,
        "valid_hours": str(int(LinkPurpose.INVITE.life.total_seconds()) // 3600),
        **_kind(invitation),
    }
    await work.outbox.post(Notice(invitation.email, NoticeKind.ADMIN_INVITATION, facts))
    facts_of_notice = {
        "invited": invitation.email,
        "invited_by": inviter.email,
        **_kind(invitation),
    }
    notices = NoticeService(work.memberships, work.outbox)
    await notices.notify(invitation.entity_id, NoticeKind.ADMIN_INVITED, facts_of_notice)


def _kind(invitation: Invitation) -> dict[str, str]:
    """Return the facts of an email that say to what the person is invited."""
    return {
        "takes_over": "yes" if invitation.takes_over else "",
        "reads_only": "yes" if invitation.role is Role.READER else "",
    }
