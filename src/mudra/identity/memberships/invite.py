"""Invite someone to become an admin of an entity; accept or decline such an invitation.

A hand-over is an invitation too: who accepts it takes the role of the one who leaves, who is an
admin until then (0131).
"""

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.acts.end_tokens import end_earlier_sign_ins
from mudra.identity.accounts.email_address import AddressRefused, NameRefused, normalize_email
from mudra.identity.accounts.email_link import (
    LinkFactory,
    LinkFault,
    LinkPurpose,
    LinkRefused,
    token_hash,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.invitation import (
    Invitation,
    Invitee,
    TooManyInvitations,
    invited_name,
    may_invite,
)
from mudra.identity.memberships.invitation_store import Invitations
from mudra.identity.memberships.member import Member, Recipient, Role, has_role
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import NoticeService
from mudra.identity.operators.operator_store import Operators
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.refusal import ValueRefused
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox


class InvitationHolder(Struct, frozen=True):
    """The holder of a valid invitation; `user.user_id` is empty for a person without an account."""

    invitation: Invitation
    user: User


async def invite(
    tx: Transaction, inviter: User, caller: Caller, member: Member, invitee: Invitee
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
    now, entity_id = await People(tx).now(), member.entity_id
    refused = may_invite(await Invitations(tx).sent(entity_id), now)
    if refused is not None:
        await AuditLog(tx).append(
            AuditEntry(
                EventName.USER_ACCOUNT_CHANGE,
                caller,
                entity_id,
                reason="too-many-invitations",
                outcome=Outcome.REFUSED,
            )
        )
        return refused
    url, link = tx.service(LinkFactory).create(
        user_id="", address=address, purpose=LinkPurpose.INVITE, now=now
    )
    invitation = Invitation(
        invitation_id=People(tx).new_id(),
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
    await Invitations(tx).add(invitation)
    await _send(tx, inviter, invitation, url)
    change = "hand-over-invited" if invitation.takes_over else f"{invitation.role}-invited"
    await _record(tx, caller, invitation, change, invitation.takes_over)
    return invitation


async def invitation_of_link(tx: Transaction, token: SecretText) -> InvitationHolder | LinkRefused:
    """Find who was invited by a link, consuming nothing."""
    invitation = await Invitations(tx).find(token_hash(token))
    if invitation is None:
        return LinkRefused(LinkFault.UNKNOWN)
    if invitation.ended_at is not None:
        return LinkRefused(await _why_ended(tx, invitation))
    if await People(tx).now() >= invitation.expires_at:
        return LinkRefused(LinkFault.EXPIRED)
    # Asked again: no one gives a right that they have lost.
    admins = await Memberships(tx).admins(invitation.entity_id)
    if not has_role(admins, invitation.invited_by):
        return LinkRefused(LinkFault.WITHDRAWN)
    user = await People(tx).by_username(invitation.email)
    if user is None:
        entities = ((invitation.entity_id,), (invitation.entity_name,))
        state = UserState.INVITED
        user = User("", invitation.email, invitation.name, state, None, *entities)
    if user.state is UserState.DISABLED:
        return LinkRefused(LinkFault.UNKNOWN)
    return InvitationHolder(invitation, user)


async def accept(
    tx: Transaction, holder: InvitationHolder, caller: Caller
) -> User | WrongAccountKind:
    """Give the person the role in the entity, with a new account where there is none.

    By a hand-over the one who leaves loses the role in the same transaction.
    """
    # So that no operator's account becomes an admin's at the same moment.
    await Operators(tx).lock_operators()
    invitation = holder.invitation
    user = await People(tx).by_username(invitation.email)
    if user is not None and await Operators(tx).scopes(user.user_id):
        return WrongAccountKind()
    if user is None:
        user = User(
            People(tx).new_id(), invitation.email, invitation.name, UserState.INVITED, None, ()
        )
        await People(tx).add_user(user)
        await AuditLog(tx).append(
            AuditEntry(
                EventName.USER_ACCOUNT_ONBOARD,
                caller,
                invitation.entity_id,
                user_id=user.user_id,
            )
        )
    elif not user.is_of_a_member:
        await end_earlier_sign_ins(tx, user, caller)
    await Invitations(tx).end(invitation.invitation_id, await People(tx).now(), accepted=True)
    if invitation.role is Role.READER:
        return await _let_read(tx, caller, invitation, user)
    if invitation.entity_id not in user.administers:
        await People(tx).add_admin(invitation.entity_id, user.user_id)
        giver = invitation.invited_by
        await Operators(tx).record_grant(user.user_id, giver, invitation.entity_id)
        await _record(tx, caller, invitation, "admin-added", user.user_id)
    await _end_role_handed_over(tx, caller, invitation, user)
    return user


async def decline(tx: Transaction, holder: InvitationHolder, caller: Caller) -> None:
    """End an invitation with its link, as the invited person wants, and inform the inviter.

    A hand-over that is declined leaves the role where it is. Both may invite again.
    """
    invitation = holder.invitation
    await Invitations(tx).end(invitation.invitation_id, await People(tx).now(), accepted=False)
    await _record(tx, caller, invitation, "invitation-declined", holder.user.user_id)
    inviter = await People(tx).by_id(invitation.invited_by)
    if inviter is not None:
        facts = {
            "user_name": inviter.name,
            "entity_id": invitation.entity_id,
            "entity_name": invitation.entity_name,
            "invited": invitation.email,
            **_kind(invitation),
        }
        await tx.service(Outbox).post(Notice(inviter.email, NoticeKind.INVITATION_DECLINED, facts))


async def _let_read(tx: Transaction, caller: Caller, invitation: Invitation, user: User) -> User:
    """Let someone see the entity; who has become its admin meanwhile does already."""
    if not user.sees(invitation.entity_id):
        await Memberships(tx).add_reader(invitation.entity_id, user.user_id)
        await _record(tx, caller, invitation, "reader-added", user.user_id)
    return user


async def _end_role_handed_over(
    tx: Transaction, caller: Caller, invitation: Invitation, successor: User
) -> None:
    """Take the role of the admin who handed it over to `successor`, and inform all of them.

    Not one's own: an account that got the invited address meanwhile has nothing to take over.
    """
    entity_id, leaving_id = invitation.entity_id, invitation.takes_over
    admins = await Memberships(tx).admins(entity_id)
    leaving = next((one for one in admins if one.user_id == leaving_id), None)
    if leaving is None or leaving_id == successor.user_id:
        return
    await end_invitations_of(tx, entity_id, leaving_id, leaving.email)
    await Memberships(tx).remove_admin(entity_id, leaving_id)
    await _record(tx, caller, invitation, "admin-removed", leaving_id)
    facts = {"leaving": leaving.email, "successor": successor.email}
    notices = tx.service(NoticeService)
    also = [Recipient(leaving.email, leaving.name)]
    await notices.notify(entity_id, NoticeKind.ADMIN_HANDED_OVER, facts, also)


async def _why_ended(tx: Transaction, invitation: Invitation) -> LinkFault:
    if invitation.accepted:
        return LinkFault.USED
    pending = await Invitations(tx).pending(invitation.entity_id)
    is_replaced = any(one.email == invitation.email for one in pending)
    return LinkFault.VOIDED if is_replaced else LinkFault.WITHDRAWN


async def end_invitations_of(tx: Transaction, entity_id: str, user_id: str, email: str) -> None:
    """End what an admin whose role ends has sent, hand-overs among them, and what they were sent.

    Whom they have invited must not become an admin in their place; and who was invited before an
    operator added them must not come back by that earlier link.
    """
    now = await People(tx).now()
    for one in await Invitations(tx).pending(entity_id):
        if user_id in {one.invited_by, one.takes_over} or one.email == email:
            await Invitations(tx).end(one.invitation_id, now, accepted=False)


async def end_invitations_everywhere(tx: Transaction, user: User) -> None:
    """End what a person has sent and was sent, at each entity of theirs, readers' ones too."""
    for entity_id in sorted({*user.administers, *user.reads}):
        # An invitation that is under way holds the member: it is stored before, or refused after.
        await People(tx).member(entity_id)
        await end_invitations_of(tx, entity_id, user.user_id, user.email)


async def _record(
    tx: Transaction, caller: Caller, invitation: Invitation, change: str, user_id: str
) -> None:
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            invitation.entity_id,
            user_id=user_id,
            detail={"change": change, "invitation": invitation.invitation_id},
        )
    )


async def _send(tx: Transaction, inviter: User, invitation: Invitation, url: SecretText) -> None:
    facts: dict[str, str | SecretText] = {
        "user_name": invitation.name,
        "entity_name": invitation.entity_name,
        "invited_by": inviter.email,
        "link": url,
        "valid_hours": str(int(LinkPurpose.INVITE.life.total_seconds()) // 3600),
        **_kind(invitation),
    }
    await tx.service(Outbox).post(Notice(invitation.email, NoticeKind.ADMIN_INVITATION, facts))
    facts_of_notice = {
        "invited": invitation.email,
        "invited_by": inviter.email,
        **_kind(invitation),
    }
    notices = tx.service(NoticeService)
    await notices.notify(invitation.entity_id, NoticeKind.ADMIN_INVITED, facts_of_notice)


def _kind(invitation: Invitation) -> dict[str, str]:
    """Return the facts of an email that say to what the person is invited."""
    return {
        "takes_over": "yes" if invitation.takes_over else "",
        "reads_only": "yes" if invitation.role is Role.READER else "",
    }
