"""Move an account to a new address.

A member's admin is moved at once. An operator's address is the way into the operator's account,
so the change waits for the old address (a link, 24 hours) or a second operator.
"""

from typing import Final

from msgspec import Struct

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName
from mudra.identity.accounts.acts.manage_accounts import AccountChanged, account_changed
from mudra.identity.accounts.acts.send_link import send_link
from mudra.identity.accounts.address_change_store import AddressChanges
from mudra.identity.accounts.email_address import AddressRefused, normalize_email
from mudra.identity.accounts.email_link import (
    LinkFactory,
    LinkFault,
    LinkPurpose,
    LinkRefused,
    token_hash,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import ADDRESS_TAKEN, NoSuchUser
from mudra.identity.accounts.user import AddressChange, User, UserState
from mudra.identity.memberships.invite import end_invitations_everywhere
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import AdminsChange, notify_of_operator
from mudra.identity.operators.act_on_person import authorize_act, record_refused_act
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import (
    ActingOperator,
    ActRefused,
    PersonAct,
    leaves_no_manager,
    may_confirm,
)
from mudra.identity.passkeys.manage_passkeys import end_passkeys
from mudra.shared.mail.notice import Notice, NoticeKind
from mudra.shared.refusal import PlainRefusal, RefusalKind, ValueRefused
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction
from mudra.storage.mail.outbox import Outbox


class AddressPending(Struct, frozen=True):
    """Nothing has changed yet: the old address or a second operator must confirm `email`."""

    user: User
    email: str


NO_ADDRESS_CHANGE: Final = PlainRefusal(
    RefusalKind.NOT_FOUND, "no change of this user to this email waits for confirmation"
)


NEEDS_SECOND_OPERATOR: Final = PlainRefusal(
    RefusalKind.CONFLICT,
    "another operator, who has held the scope members for a day, must confirm this; "
    "or the link that was sent to the old address",
)


ChangeResult = (
    AccountChanged | AddressPending | NoSuchUser | ActRefused | PlainRefusal | ValueRefused
)
ConfirmResult = AccountChanged | NoSuchUser | ActRefused | PlainRefusal


class ChangeHolder(Struct, frozen=True):
    """The change that a link sent to the old address confirms."""

    change: AddressChange
    user: User


async def change_address(
    tx: Transaction, by: ActingOperator, user_id: str, email: str
) -> ChangeResult:
    """Move an account to a new address, which must be verified before the next sign-in.

    Both addresses get an email and the tokens end; for an operator only once it is confirmed.
    The other admins of the person's members, and their contacts, get one too. With a member's
    admin or reader end their passkeys and all invitations that they sent or were sent (0072).
    """
    user = await authorize_act(tx, by, user_id, PersonAct.ADDRESS)
    if not isinstance(user, User):
        return user
    if user.state is UserState.DISABLED:
        return NoSuchUser()
    address = normalize_email(email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    if await People(tx).by_username(address) is not None:
        return ADDRESS_TAKEN
    if await Operators(tx).scopes(user_id):
        return await _ask_old_address(tx, by, user, address)
    # The one who reads the new mailbox is that admin from now on, and the former one no longer.
    await end_invitations_everywhere(tx, user)
    await end_passkeys(tx, user, by.caller)
    for entity_id in user.administers:
        await Operators(tx).record_grant(user_id, by.user_id, entity_id)
    moved = await _move(tx, user, address, by.caller)
    for entity_id in user.administers:
        await notify_of_operator(tx, entity_id, AdminsChange.MOVED, address, former=user.email)
    return moved


async def confirm_as_second(
    tx: Transaction, by: ActingOperator, user_id: str, email: str
) -> ConfirmResult:
    """Confirm a requested change as the second operator, who names the new address."""
    user = await authorize_act(tx, by, user_id, PersonAct.CONFIRM_ADDRESS)
    if not isinstance(user, User):
        return user
    change = await AddressChanges(tx).of_user(user_id)
    now = await People(tx).now()
    if change is None or change.email != normalize_email(email) or now >= change.expires_at:
        return NO_ADDRESS_CHANGE
    since = await Operators(tx).manages_since(by.user_id)
    if not may_confirm(change.requested_by, change.requested_at, by.user_id, since):
        refused = NEEDS_SECOND_OPERATOR
        await record_refused_act(tx, by.caller, user_id, PersonAct.CONFIRM_ADDRESS, refused)
        return refused
    return await _confirmed(tx, change, user, by.caller)


async def change_of_link(tx: Transaction, token: SecretText) -> ChangeHolder | LinkRefused:
    """Find the change that a link confirms, changing nothing."""
    change = await AddressChanges(tx).find(token_hash(token))
    user = await People(tx).by_id(change.user_id) if change else None
    if change is None or user is None or user.state is UserState.DISABLED:
        return LinkRefused(LinkFault.UNKNOWN)
    if await People(tx).now() >= change.expires_at:
        return LinkRefused(LinkFault.EXPIRED)
    return ChangeHolder(change, user)


async def confirm_by_link(
    tx: Transaction, token: SecretText, caller: Caller
) -> AccountChanged | LinkRefused | PlainRefusal | ActRefused | NoSuchUser:
    """Confirm a requested change by the link that was sent to the old address."""
    await Operators(tx).lock_operators()
    holder = await change_of_link(tx, token)
    if isinstance(holder, LinkRefused):
        return holder
    user = holder.user
    refused = leaves_no_manager(await Operators(tx).managers(), user.user_id)
    if refused is not None:
        return refused
    return await _confirmed(tx, holder.change, user, caller)


async def _ask_old_address(
    tx: Transaction, by: ActingOperator, user: User, address: str
) -> AddressPending:
    now = await People(tx).now()
    url, record = tx.service(LinkFactory).create(
        user_id=user.user_id, address=user.email, purpose=LinkPurpose.ADDRESS, now=now
    )
    await AddressChanges(tx).request(
        AddressChange(user.user_id, address, by.user_id, now, record.expires_at, record.token_hash)
    )
    facts: dict[str, str | SecretText] = {
        "user_name": user.name,
        "new_address": address,
        "link": url,
        "valid_hours": str(int(LinkPurpose.ADDRESS.life.total_seconds()) // 3600),
    }
    await tx.service(Outbox).post(Notice(user.email, NoticeKind.ADDRESS_CONFIRM, facts))
    await AuditLog(tx).append(
        AuditEntry(
            EventName.OPERATOR_ACCOUNT_CHANGE,
            by.caller,
            user_id=user.user_id,
            detail={"change": "address-requested"},
        )
    )
    return AddressPending(user, address)


async def _confirmed(
    tx: Transaction, change: AddressChange, user: User, caller: Caller
) -> AccountChanged | PlainRefusal:
    if await People(tx).by_username(change.email) is not None:
        return ADDRESS_TAKEN
    return await _move(tx, user, change.email, caller)


async def _move(tx: Transaction, user: User, address: str, caller: Caller) -> AccountChanged:
    await Memberships(tx).set_email(user.user_id, address, UserState.INVITED)
    moved = await People(tx).by_id(user.user_id)
    assert moved is not None
    await AddressChanges(tx).remove(user.user_id)
    facts = {"user_name": user.name, "old_address": user.email, "new_address": address}
    for recipient in (user.email, address):
        await tx.service(Outbox).post(Notice(recipient, NoticeKind.ADDRESS_CHANGED, facts))
    await send_link(tx, moved, caller)
    return await account_changed(tx, moved, caller, "address")
