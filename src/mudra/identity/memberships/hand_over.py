"""Hand over an admin's role, and send an invitation again.

An admin's hand-over is an invitation: the role moves when it is accepted, and until then nothing
of the one who leaves ends (0131). An operator replaces an admin at once.
"""

from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.memberships.admins import (
    AddResult,
    AdminsChanged,
    Forbidden,
    NotAnAdmin,
    Requester,
    add_or_invite,
    admins_after,
    authorized_member,
    end_role,
    member_to_join,
    record_change,
)
from mudra.identity.memberships.invitation import Invitation, Invitee, TooManyInvitations
from mudra.identity.memberships.invitation_store import Invitations
from mudra.identity.memberships.invite import invite
from mudra.identity.memberships.member import Admin, Member, Recipient
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import AdminsChange, notify_of_operator
from mudra.shared.refusal import Refusal, RefusalKind, ValueRefused
from mudra.storage.database.transaction import Transaction


class NoInvitation(Refusal, frozen=True):
    """No invitation to this address waits to be accepted."""

    kind = RefusalKind.NOT_FOUND
    sentence = "email has no invitation that waits to be accepted"


HandOverResult = AddResult | NotAnAdmin
SendAgainResult = AdminsChanged | Forbidden | ValueRefused | NoInvitation | TooManyInvitations


async def hand_over(  # who asks, and the facts of the change
    tx: Transaction,
    requester: Requester,
    entity_id: str,
    leaving: str,
    email: str,
    name: str,
) -> HandOverResult:
    """Let someone else take the place of an admin; returns the admins and who is invited.

    An admin invites a successor for its own role, and keeps it until the invitation is accepted.
    An operator says who leaves, and the role moves at once.
    """
    member = await member_to_join(tx, requester, entity_id)
    if isinstance(member, Refusal):
        return member
    # All is checked before anything is changed: a refusal leaves no half-made change.
    leaving_email = normalize_email(requester.user.email if requester.user else leaving)
    address = normalize_email(email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    if leaving_email == address:
        return ValueRefused("email", "must be another person's than the one who leaves")
    admins = await Memberships(tx).admins(entity_id)
    removed = next((admin for admin in admins if admin.email == leaving_email), None)
    if removed is None:
        return NotAnAdmin()
    if requester.user is not None:
        if address in {admin.email for admin in admins}:
            return ValueRefused("email", "is an admin already: remove yourself instead")
        return await _invite_successor(tx, requester, member, removed, Invitee(address, name))
    added = await add_or_invite(tx, requester, member, Invitee(address, name))
    if isinstance(added, Refusal):
        return added
    after = await end_role(tx, requester.caller, entity_id, removed)
    also = [Recipient(removed.email, removed.name)]
    await notify_of_operator(
        tx, entity_id, AdminsChange.REPLACED, added.email, former=removed.email, also=also
    )
    return AdminsChanged(entity_id, after.admins, after.contact, added.email, changed=True)


async def send_again(
    tx: Transaction, requester: Requester, entity_id: str, email: str
) -> SendAgainResult:
    """Send an invitation once more, with a new link for 24 hours; the earlier link ends.

    It counts as another invitation. A hand-over is sent again only by the one who leaves.
    """
    member = await authorized_member(tx, requester, entity_id)
    if isinstance(member, Refusal):
        return member
    address = normalize_email(email)
    pending = await Invitations(tx).pending(entity_id)
    earlier = next((one for one in pending if one.email == address), None)
    if earlier is None or requester.user is None:
        return NoInvitation()
    refused = _refused_for_another(earlier, requester.user.user_id)
    if refused is not None:
        return refused
    name = "" if earlier.name == earlier.email else earlier.name
    invitee = Invitee(earlier.email, name, earlier.takes_over, earlier.role)
    return await _invited(tx, requester.user, requester, member, invitee)


async def _invite_successor(
    tx: Transaction, requester: Requester, member: Member, leaving: Admin, to: Invitee
) -> AdminsChanged | ValueRefused | TooManyInvitations:
    """Invite who takes over; an earlier hand-over by the same admin ends with it."""
    assert requester.user is not None
    pending = await Invitations(tx).pending(member.entity_id)
    for one in pending:
        refused = _refused_for_another(one, leaving.user_id) if one.email == to.email else None
        if refused is not None:
            return refused
    invitee = Invitee(to.email, to.name, takes_over=leaving.user_id)
    outcome = await _invited(tx, requester.user, requester, member, invitee)
    if isinstance(outcome, Refusal):
        return outcome
    now = await People(tx).now()
    for one in pending:
        if one.takes_over == leaving.user_id and one.email != to.email:
            await Invitations(tx).end(one.invitation_id, now, accepted=False)
            entity_id = member.entity_id
            await record_change(tx, requester.caller, entity_id, "", "invitation-withdrawn")
    return await admins_after(tx, member.entity_id, to.email, changed=True)


def _refused_for_another(pending: Invitation, user_id: str) -> ValueRefused | None:
    """Refuse to put an invitation in the place of another admin's hand-over."""
    if pending.takes_over in {"", user_id}:
        return None
    return ValueRefused(
        "email", "is invited to take over from another admin, who alone can change that"
    )


async def _invited(
    tx: Transaction, inviter: User, requester: Requester, member: Member, to: Invitee
) -> AdminsChanged | ValueRefused | TooManyInvitations:
    invited = await invite(tx, inviter, requester.caller, member, to)
    if isinstance(invited, Refusal):
        return invited
    return await admins_after(tx, member.entity_id, invited.email, changed=True)
