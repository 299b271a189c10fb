"""Change an entity's admins: add, remove. Its backup contact: contact.py.

An operator may change any entity, an admin only its own. The last admin who can
act is never removed unnoticed: an admin is refused, an operator is warned. Rights
are read from the database at each call, so a change is effective from its commit.
"""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.acts.end_tokens import end_earlier_sign_ins
from mudra.identity.accounts.acts.send_link import send_missing_link
from mudra.identity.accounts.email_address import (
    AddressRefused,
    NameRefused,
    display_name,
    normalize_email,
)
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import WrongAccountKind
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.invitation import Invitee, TooManyInvitations
from mudra.identity.memberships.invitation_store import Invitations
from mudra.identity.memberships.invite import end_invitations_of, invite
from mudra.identity.memberships.member import (
    Admin,
    Contact,
    Member,
    NotYourEntity,
    Recipient,
    Role,
    able_admins,
    has_role,
)
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.memberships.notices import AdminsChange, notify_of_operator
from mudra.identity.operators.act_on_person import lost_scope
from mudra.identity.operators.operator import ScopeMissing
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import ActingOperator
from mudra.shared.refusal import PlainRefusal, Refusal, RefusalKind, ValueRefused
from mudra.storage.database.transaction import Transaction


def no_such_entity(entity_id: str) -> PlainRefusal:
    """Refuse: there is no entity with this ID."""
    return PlainRefusal(RefusalKind.NOT_FOUND, f"no member has the entity ID {entity_id}")


class NotAnAdmin(Refusal, frozen=True):
    """The address does not belong to an admin of the entity."""

    kind = RefusalKind.NOT_FOUND
    sentence = "email is no admin of this entity"


class LastAdmin(Refusal, frozen=True):
    """No admin who can act would be left; add another admin first."""

    kind = RefusalKind.CONFLICT
    sentence = "email is the last admin who can act for entityId: add another one first"


class Requester(Struct, frozen=True):
    """The requester of a change: a user who must be an admin of the entity, or an operator."""

    caller: Caller
    user: User | None = None
    operator: ActingOperator | None = None


def requested_by(by: ActingOperator) -> Requester:
    """Return an operator, who asks for a change of any entity."""
    return Requester(by.caller, operator=by)


class EntityAdmins(Struct, frozen=True):
    """The admins of an entity and its backup contact."""

    entity_id: str
    admins: Sequence[Admin]
    contact: Contact

    @property
    def able(self) -> int:
        """Return how many of the admins can act."""
        return able_admins(self.admins)


class AdminsChanged(EntityAdmins, frozen=True):
    """The admins after a request; `changed` is False when nothing was to be done.

    `withdrawn` says that what ended was an invitation, which no one had accepted.
    """

    email: str
    changed: bool
    withdrawn: bool = False


Forbidden = NotYourEntity | PlainRefusal | ScopeMissing
AddResult = AdminsChanged | Forbidden | ValueRefused | WrongAccountKind | TooManyInvitations
RemoveResult = AdminsChanged | Forbidden | NotAnAdmin | LastAdmin


async def admins_of(
    tx: Transaction, requester: Requester, entity_id: str
) -> EntityAdmins | Forbidden:
    """List the admins, the readers and the backup contact of an entity; its readers may, too."""
    user = requester.user
    if user is not None and entity_id in user.reads:
        return await all_people(tx, entity_id)
    member = await authorized_member(tx, requester, entity_id)
    if isinstance(member, Refusal):
        return member
    return await all_people(tx, entity_id)


async def add_admin(
    tx: Transaction, requester: Requester, entity_id: str, invitee: Invitee
) -> AddResult:
    """Make someone an admin or a reader.

    An admin invites, and the invited person gets the role by accepting: the answer is the same
    whether or not the person has an account. An operator adds, and admins only; a person without
    an account gets a link by email.
    """
    member = await member_to_join(tx, requester, entity_id)
    if isinstance(member, Refusal):
        return member
    if requester.user is None and invitee.role is Role.READER:
        return ValueRefused("role", "must be admin: readers are invited by an admin of the entity")
    outcome = await add_or_invite(tx, requester, member, invitee)
    if requester.user is None and isinstance(outcome, AdminsChanged) and outcome.changed:
        await notify_of_operator(tx, entity_id, AdminsChange.ADDED, outcome.email)
    return outcome


async def remove_admin(
    tx: Transaction, requester: Requester, entity_id: str, email: str
) -> RemoveResult:
    """Remove an admin or a reader; an operator's removal is made known to the member.

    Only an operator may leave an entity without an admin who can act.
    """
    member = await authorized_member(tx, requester, entity_id)
    if isinstance(member, Refusal):
        return member
    address = normalize_email(email)
    admins = await Memberships(tx).admins(entity_id)
    admin = next((one for one in admins if one.email == address), None)
    readers = await Memberships(tx).readers(entity_id)
    reader = next((one for one in readers if one.email == address), None)
    gone = reader or admin
    if gone is None:
        return await _withdraw(tx, requester.caller, entity_id, str(address))
    is_admin = gone.role is Role.ADMIN
    if is_admin and requester.user and able_admins(admins, without=gone.user_id) == 0:
        return LastAdmin()
    end = end_role if is_admin else _end_reading
    ended = await end(tx, requester.caller, entity_id, gone)
    if requester.user is None:
        also = [Recipient(gone.email, gone.name)]
        await notify_of_operator(tx, entity_id, AdminsChange.REMOVED, gone.email, also=also)
    return ended


async def authorized_member(
    tx: Transaction, requester: Requester, entity_id: str
) -> Member | Forbidden:
    """Lock the member and check the requester's right; an admin cannot probe for other IDs."""
    if requester.user is not None and entity_id not in requester.user.administers:
        await _record_denied(tx, requester.caller, entity_id)
        return NotYourEntity()
    # The member's lock first: two admins who remove each other are served one after the other.
    member = await People(tx).member(entity_id)
    if requester.user is None:
        return await _for_operator(tx, requester, entity_id, member)
    admins = await Memberships(tx).admins(entity_id)
    if member is None or not has_role(admins, requester.user.user_id):
        await _record_denied(tx, requester.caller, entity_id)
        return NotYourEntity()
    return member


async def _for_operator(
    tx: Transaction, requester: Requester, entity_id: str, member: Member | None
) -> Member | PlainRefusal | ScopeMissing:
    assert requester.operator is not None  # who is no user is an operator
    lost = await lost_scope(tx, requester.operator)
    if lost is not None:
        return lost
    return no_such_entity(entity_id) if member is None else member


async def member_to_join(
    tx: Transaction, requester: Requester, entity_id: str
) -> Member | Forbidden:
    """Lock a member that someone is to join, as `authorized_member` does.

    An operator adds at once, and so that no operator's account becomes an admin's at the same
    moment waits for acts on people: before the member, as who accepts an invitation does. Else
    each of the two could hold what the other waits for.
    """
    if requester.user is None:
        await Operators(tx).lock_operators()
    return await authorized_member(tx, requester, entity_id)


async def _record_denied(tx: Transaction, caller: Caller, entity_id: str) -> None:
    """Record that someone asked about an entity that is not theirs, whether or not it exists."""
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            reason="not-your-entity",
            detail={"entity": entity_id},
            outcome=Outcome.REFUSED,
        )
    )


async def add_or_invite(
    tx: Transaction, requester: Requester, member: Member, invitee: Invitee
) -> AdminsChanged | ValueRefused | WrongAccountKind | TooManyInvitations:
    """Add an admin for an operator, invite one for an admin; the caller has `member_to_join`."""
    address = normalize_email(invitee.email)
    if isinstance(address, AddressRefused):
        return ValueRefused("email", address.problem)
    admins: Sequence[Admin] = await Memberships(tx).admins(member.entity_id)
    if requester.user is not None:
        admins = (await all_people(tx, member.entity_id)).admins  # those who are invited, too
    if any(one.email == address and _has_already(one, invitee.role) for one in admins):
        return await admins_after(tx, member.entity_id, address, changed=False)
    if requester.user is None:
        return await _add_directly(tx, requester, member, address, invitee.name)
    invited = await invite(tx, requester.user, requester.caller, member, invitee)
    if isinstance(invited, Refusal):
        return invited
    return await admins_after(tx, member.entity_id, address, changed=True)


def _has_already(person: Admin, role: Role) -> bool:
    """Say whether an invitation to this role would give a person nothing new.

    A reader may be invited to be an admin; who is an admin reads already. Who is only invited is
    invited again in the other role: an admin who chose the greater right by mistake takes it back.
    A hand-over is the one's who leaves, and stays.
    """
    is_mere_invitation = person.invited_until is not None and not person.takes_over_from
    return person.role is role or (person.role is Role.ADMIN and not is_mere_invitation)


async def _add_directly(
    tx: Transaction, requester: Requester, member: Member, address: str, name: str
) -> AdminsChanged | ValueRefused | WrongAccountKind:
    caller, operator = requester.caller, requester.operator
    assert operator is not None  # an admin invites
    full_name = display_name(name or address)
    if isinstance(full_name, NameRefused):
        return ValueRefused("name", full_name.problem)
    user = await People(tx).by_username(address)
    if user is not None and await Operators(tx).scopes(user.user_id):
        return WrongAccountKind()
    if user is None:
        user = await create_admin_account(
            tx, caller, member.entity_id, member.name, address, full_name
        )
    elif not user.is_of_a_member:
        await end_earlier_sign_ins(tx, user, caller)
    await People(tx).add_admin(member.entity_id, user.user_id)
    await Operators(tx).record_grant(user.user_id, operator.user_id, member.entity_id)
    await record_change(tx, caller, member.entity_id, user.user_id, "admin-added")
    await send_missing_link(tx, user.user_id, caller)
    return await admins_after(tx, member.entity_id, address, changed=True)


async def create_admin_account(  # the facts of the account
    tx: Transaction,
    caller: Caller,
    entity_id: str,
    entity_name: str,
    email: str,
    name: str,
) -> User:
    """Create the account of a new admin, who must still set a password."""
    user_id = People(tx).new_id()
    user = User(user_id, email, name, UserState.INVITED, None, (entity_id,), (entity_name,))
    await People(tx).add_user(user)
    await AuditLog(tx).append(
        AuditEntry(EventName.USER_ACCOUNT_ONBOARD, caller, entity_id, user_id=user_id)
    )
    return user


async def _withdraw(
    tx: Transaction, caller: Caller, entity_id: str, address: str
) -> AdminsChanged | NotAnAdmin:
    pending = await Invitations(tx).pending(entity_id)
    invitation = next((one for one in pending if one.email == address), None)
    if invitation is None:
        return NotAnAdmin()
    await Invitations(tx).end(invitation.invitation_id, await People(tx).now(), accepted=False)
    await record_change(tx, caller, entity_id, "", "invitation-withdrawn")
    after = await admins_after(tx, entity_id, address, changed=True)
    return replace(after, withdrawn=True)


async def _end_reading(
    tx: Transaction, caller: Caller, entity_id: str, reader: Admin
) -> AdminsChanged:
    """End the right to read, and an invitation to more: it is the person who is to go."""
    await _withdraw(tx, caller, entity_id, reader.email)
    await Memberships(tx).remove_reader(entity_id, reader.user_id)
    await record_change(tx, caller, entity_id, reader.user_id, "reader-removed")
    return await admins_after(tx, entity_id, reader.email, changed=True)


async def end_role(tx: Transaction, caller: Caller, entity_id: str, admin: Admin) -> AdminsChanged:
    """End an admin's role, and the invitations that the admin sent and got, and record it."""
    await end_invitations_of(tx, entity_id, admin.user_id, admin.email)
    await Memberships(tx).remove_admin(entity_id, admin.user_id)
    await record_change(tx, caller, entity_id, admin.user_id, "admin-removed")
    return await admins_after(tx, entity_id, admin.email, changed=True)


async def all_people(tx: Transaction, entity_id: str) -> EntityAdmins:
    """Read the admins, and after them the readers and the people who are invited."""
    admins = await Memberships(tx).admins(entity_id)
    emails = {admin.user_id: admin.email for admin in admins}
    invited = [
        Admin(
            one.invitation_id,
            one.email,
            one.name,
            UserState.INVITED,
            one.created_at,
            one.expires_at,
            emails.get(one.takes_over, ""),
            one.role,
        )
        for one in await Invitations(tx).pending(entity_id)
    ]
    readers = await Memberships(tx).readers(entity_id)
    everyone = [*admins, *readers, *invited]
    return EntityAdmins(entity_id, everyone, await Memberships(tx).contact(entity_id))


async def admins_after(
    tx: Transaction, entity_id: str, email: str, *, changed: bool
) -> AdminsChanged:
    """Return the admins after a request about the person with this address."""
    now = await all_people(tx, entity_id)
    return AdminsChanged(entity_id, now.admins, now.contact, email, changed)


async def record_change(
    tx: Transaction, caller: Caller, entity_id: str, user_id: str, change: str
) -> None:
    """Record a change of an entity's admins."""
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_ACCOUNT_CHANGE,
            caller,
            entity_id,
            user_id=user_id,
            detail={"change": change},
        )
    )
