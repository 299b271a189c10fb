"""Sign an operator in whom a provider names: find or create the account, and set its scopes.

Admins of members do not sign in so. The last operator who manages operators keeps that scope,
whatever the provider says: else no one could repair a wrong claim. An answer without the claim
that decides on scopes signs no one in, and changes none (0078).
"""

from msgspec.structs import replace

from mudra.audit.audit_log_store import AuditLog
from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.acts.end_tokens import end_all_tokens, end_earlier_sign_ins
from mudra.identity.accounts.address_change_store import AddressChanges
from mudra.identity.accounts.email_address import NameRefused, display_name
from mudra.identity.accounts.link_store import Links
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User, UserState
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.operator_store import Operators
from mudra.identity.operators.person_rule import leaves_no_manager
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.sign_in import TooManyAttempts, too_often
from mudra.identity.single_sign_on.claims import ProvidedIdentity, SignOnRefused, scopes_after
from mudra.identity.single_sign_on.terms import SignOnTerms
from mudra.storage.database.transaction import Transaction


async def sign_in_by_provider(
    tx: Transaction,
    identity: ProvidedIdentity,
    terms: SignOnTerms,
    caller: Caller,
    *,
    origin: str,
    hourly: int,
) -> User | SignOnRefused | TooManyAttempts:
    """Return the operator who signed in, with the scopes that the claims leave."""
    await Operators(tx).lock_operators()
    user = await People(tx).by_username(identity.email)
    held = await Operators(tx).scopes(user.user_id) if user else frozenset()
    fault = _fault(user, held, identity, terms)
    if fault:
        return await refused(tx, caller, fault, user)
    if identity.lacks_scopes:
        return await _without_scope_claim(tx, caller, user)
    if user is None:
        user = await _created(tx, identity, caller)
    elif not held:
        # Before the session that this sign-in begins; the claims give a first scope.
        await end_earlier_sign_ins(tx, user, caller)
    left = await _with_scopes(tx, user, held, identity, terms, caller)
    if not left:
        return await refused(tx, caller, "no-scopes", user)
    now = await People(tx).now()
    often = await too_often(Attempts(tx), user.email, now, hourly)
    if often is not None:
        await refused(tx, caller, "too-many-sign-ins", user)
        return often
    if user.state is UserState.INVITED:
        await Memberships(tx).set_state(user.user_id, UserState.ACTIVE)
    await Links(tx).void(user.user_id, now)  # an open one is a second way in
    await Attempts(tx).succeeded(user.email, origin, now)
    detail = {"kind": "single-sign-on", "subject": identity.subject}
    own = replace(caller, actor=f"user:{user.user_id}")
    await AuditLog(tx).append(AuditEntry(EventName.USER_SIGN_IN_SUCCEED, own, detail=detail))
    return user


async def _without_scope_claim(tx: Transaction, caller: Caller, user: User | None) -> SignOnRefused:
    """Refuse a person of whose rights the provider says nothing; what they have open ends."""
    if user is not None:
        await end_all_tokens(tx, user.user_id, caller)
    return await refused(tx, caller, "no-scope-claim", user)


async def refused(
    tx: Transaction, caller: Caller, reason: str, user: User | None = None
) -> SignOnRefused:
    """Record an answer of the provider that signed no one in."""
    await AuditLog(tx).append(
        AuditEntry(
            EventName.USER_SIGN_IN_REFUSE,
            caller,
            user_id=user.user_id if user else "",
            reason=f"single-sign-on: {reason}",
            outcome=Outcome.REFUSED,
        )
    )
    return SignOnRefused(reason)


def _fault(
    user: User | None, held: frozenset[Scope], identity: ProvidedIdentity, terms: SignOnTerms
) -> str:
    if user is not None and user.is_of_a_member:
        return "not-an-operator"
    if user is not None and user.state is UserState.DISABLED:
        return "account-disabled"
    if not held and not (terms.creates and terms.sets_scopes):
        return "not-an-operator"
    return "" if held or identity.scopes or identity.lacks_scopes else "no-scopes"


async def _created(tx: Transaction, identity: ProvidedIdentity, caller: Caller) -> User:
    name = display_name(identity.name or identity.email)
    shown = identity.email if isinstance(name, NameRefused) else name
    user = User(People(tx).new_id(), identity.email, shown, UserState.ACTIVE, None, ())
    await People(tx).add_user(user)
    await AuditLog(tx).append(
        AuditEntry(EventName.OPERATOR_ACCOUNT_CREATE, caller, user_id=user.user_id)
    )
    return user


async def _with_scopes(
    tx: Transaction,
    user: User,
    held: frozenset[Scope],
    identity: ProvidedIdentity,
    terms: SignOnTerms,
    caller: Caller,
) -> frozenset[Scope]:
    wanted = scopes_after(held, identity.scopes, sets=terms.sets_scopes)
    if Scope.MEMBERS in held - wanted:
        last = leaves_no_manager(await Operators(tx).managers(), user.user_id)
        wanted = wanted if last is None else wanted | {Scope.MEMBERS}
    if wanted != held:
        await Operators(tx).set_scopes(user.user_id, wanted)
        if not wanted:
            await AddressChanges(tx).remove(user.user_id)
        names = " ".join(sorted(scope.value for scope in wanted))
        await AuditLog(tx).append(
            AuditEntry(
                EventName.OPERATOR_ACCOUNT_CHANGE,
                caller,
                user_id=user.user_id,
                detail={"scopes": names},
            )
        )
    return wanted
