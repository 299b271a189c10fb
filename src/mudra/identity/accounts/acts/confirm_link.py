"""Agree by a one-use link to what an email asks for, where no password is to be set; or decline.

A link to an operator's old address confirms the new one; an invitation of someone who already
has an account is accepted.
"""

from mudra.audit.event import Caller
from mudra.identity.accounts.acts.change_address import (
    ChangeHolder,
    change_of_link,
    confirm_by_link,
)
from mudra.identity.accounts.acts.manage_accounts import AccountChanged
from mudra.identity.accounts.acts.set_password import record_refused_link
from mudra.identity.accounts.email_link import LinkFault, LinkRefused
from mudra.identity.accounts.refusals import NoSuchUser, WrongAccountKind
from mudra.identity.accounts.user import User
from mudra.identity.memberships.invite import InvitationHolder, accept, decline, invitation_of_link
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import ActRefused
from mudra.shared.refusal import PlainRefusal
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

ConfirmResult = (
    AccountChanged | User | LinkRefused | PlainRefusal | ActRefused | NoSuchUser | WrongAccountKind
)


async def agreement_of_link(
    tx: Transaction, token: SecretText
) -> ChangeHolder | InvitationHolder | LinkRefused:
    """Find what a link agrees to, changing nothing.

    An invitation of someone who has no password yet is accepted by setting one instead.
    """
    change = await change_of_link(tx, token)
    if isinstance(change, ChangeHolder):
        return change
    if change.fault is not LinkFault.UNKNOWN:
        return change
    invited = await invitation_of_link(tx, token)
    if isinstance(invited, InvitationHolder) and not invited.user.may_sign_in:
        return LinkRefused(LinkFault.UNKNOWN)
    return invited


async def confirm_link(tx: Transaction, token: SecretText, caller: Caller) -> ConfirmResult:
    """Consume the link and do what it agrees to; a refused link is recorded."""
    await Operators(tx).lock_operators()  # before the link's own lock, as who disables someone
    found = await agreement_of_link(tx, token)
    if isinstance(found, LinkRefused):
        await record_refused_link(tx, found, caller)
        return found
    if isinstance(found, InvitationHolder):
        return await accept(tx, found, caller)
    return await confirm_by_link(tx, token, caller)


async def decline_by_link(
    tx: Transaction, token: SecretText, caller: Caller
) -> InvitationHolder | LinkRefused:
    """Decline the invitation of a link, with or without an account; the link ends with it."""
    found = await invitation_of_link(tx, token)
    if isinstance(found, LinkRefused):
        await record_refused_link(tx, found, caller)
        return found
    await decline(tx, found, caller)
    return found
