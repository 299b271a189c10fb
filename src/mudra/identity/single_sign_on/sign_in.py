"""Sign an operator in whom a provider names: find or create the account, and set its scopes.

Admins of members do not sign in so. The last operator who manages operators keeps that scope,
whatever the provider says: else no one could repair a wrong claim. An answer without the claim
that decides on scopes signs no one in, and changes none (0078).
"""

from msgspec.structs import replace

from mudra.audit.event import AuditEntry, Caller, EventName, Outcome
from mudra.identity.accounts.email_address import NameRefused, display_name
from mudra.identity.accounts.end_tokens import end_all_tokens
from mudra.identity.accounts.first_role import end_earlier_sign_ins
from mudra.identity.accounts.user import User, UserState
from mudra.identity.operators.operator import Scope
from mudra.identity.operators.person_rule import leaves_no_manager
from mudra.identity.sign_in.sign_in import TooManyAttempts, too_often
from mudra.identity.single_sign_on.claims import ProvidedIdentity, SignOnRefused, scopes_after
from mudra.identity.single_sign_on.ports import SignOnUnitOfWork
from mudra.identity.single_sign_on.terms import SignOnTerms


async def sign_in_by_provider(
    work: SignOnUnitOfWork,
    identity: ProvidedIdentity,
    terms: SignOnTerms,
    caller: Caller,
    *,
    origin: str,
    hourly: int,
) -> User | SignOnRefused | TooManyAttempts:
    """Return the operator who signed in, with the scopes that the claims leave."""
    await work.memberships.lock_operators()
    user = await work.people.by_username(identity.email)
    held = await work.memberships.scopes(user.user_id) if user else frozenset()
    fault = _fault(user, held, identity, terms)
    if fault:
        return await refused(work, caller, fault, user)
    if identity.lacks_scopes:
        return await _without_scope_claim(work, caller, user)
    if user is None:
        user = await _created(work, identity, caller)
    elif not held:
        # Before the session that this sign-in begins; the claims give a first scope.
        await end_earlier_sign_ins(work, user, caller)
    left = await _with_scopes(work, user, held, identity, terms, caller)
    if not left:
        return await refused(work, caller, "no-scopes", user)
    now = await work.people.now()
    often = await too_often(work.attempts, user.email, now, hourly)
    if often is not None:
        await refused(work, caller, "too-many-sign-ins", user)
        return often
    if user.state is UserState.INVITED:
        await work.memberships.set_state(user.user_id, UserState.ACTIVE)
    await work.links.void(user.user_id, now)  # an open one is a second way in
    await work.attempts.succeeded(user.email, origin, now)
    detail = {"kind": "single-sign-on", "subject": identity.subject}
    own = replace(caller, actor=f"user:{user.user_id}")
    await work.audit_log.append(AuditEntry(EventName.USER_SIGN_IN_SUCCEED, own, detail=detail))
    return user


async def _without_scope_claim(
    work: SignOnUnitOfWork, caller: Caller, user: User | None
) -> SignOnRefused:
    """Refuse a person of whose rights the provider says nothing; what they have open ends."""
    if user is not None:
        await end_all_tokens(work, user.user_id, caller)
    return await refused(work, caller, "no-scope-claim", user)


async def refused(
    work: SignOnUnitOfWork, caller: Caller, reason: str, user: User | None = None
) -> SignOnRefused:
    """Record an answer of the provider that signed no one in."""
    await work.audit_log.append(
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


async def _created(work: SignOnUnitOfWork, identity: ProvidedIdentity, caller: Caller) -> User:
    name = display_name(identity.name or identity.email)
    shown = identity.email if isinstance(name, NameRefused) else name
    user = User(work.people.new_id(), identity.email, shown, UserState.ACTIVE, None, ())
    await work.people.add_user(user)
    await work.audit_log.append(
        AuditEntry(EventName.OPERATOR_ACCOUNT_CREATE, caller, user_id=user.user_id)
    )
    return user


async def _with_scopes(
    work: SignOnUnitOfWork,
    user: User,
    held: frozenset[Scope],
    identity: ProvidedIdentity,
    terms: SignOnTerms,
    caller: Caller,
) -> frozenset[Scope]:
    wanted = scopes_after(held, identity.scopes, sets=terms.sets_scopes)
    if Scope.MEMBERS in held - wanted:
        last = leaves_no_manager(await work.memberships.managers(), user.user_id)
        wanted = wanted if last is None else wanted | {Scope.MEMBERS}
    if wanted != held:
        await work.memberships.set_scopes(user.user_id, wanted)
        if not wanted:
            await work.address_changes.remove(user.user_id)
        names = " ".join(sorted(scope.value for scope in wanted))
        await work.audit_log.append(
            AuditEntry(
                EventName.OPERATOR_ACCOUNT_CHANGE,
                caller,
                user_id=user.user_id,
                detail={"scopes": names},
            )
        )
    return wanted
