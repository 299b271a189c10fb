"""Reset a person's lost second factor: an act on a person (person_rule.py), never on oneself."""

from mudra.identity.accounts.manage_accounts import AccountChanged, account_changed
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.operators.person_rule import (
    ActingOperator,
    ActRefused,
    PersonAct,
    authorize_act,
)
from mudra.identity.ports import IdentityUnitOfWork
from mudra.identity.second_factor.check_code import FactorChange, forget_wrong_codes, notify
from mudra.identity.second_factor.enroll import NO_SECOND_FACTOR
from mudra.identity.sign_in.throttle import Counted
from mudra.shared.refusal import PlainRefusal


async def reset_factor(
    work: IdentityUnitOfWork, by: ActingOperator, user_id: str
) -> AccountChanged | NoSuchUser | ActRefused | PlainRefusal:
    """Remove a person's second factor and end their tokens and sessions; the password stays."""
    user = await authorize_act(work, by, user_id, PersonAct.SECOND_FACTOR)
    if not isinstance(user, User):
        return user
    # Before the factor's own lock, as who shows a code takes them.
    await work.attempts.history(Counted.SECOND_FACTOR, user_id, lock=True)
    if not await work.second_factors.remove(user_id):
        return NO_SECOND_FACTOR
    await forget_wrong_codes(work, user_id)
    await notify(work, user, FactorChange.RESET)
    return await account_changed(work, user, by.caller, "second-factor-reset")


async def reset_admins_factor(
    work: IdentityUnitOfWork, by: ActingOperator, entity_id: str, email: str
) -> AccountChanged | NoSuchUser | ActRefused | PlainRefusal:
    """Reset the second factor of an admin of this entity."""
    admins = await work.memberships.admins(entity_id)
    admin = next((admin for admin in admins if admin.email == email), None)
    return NoSuchUser() if admin is None else await reset_factor(work, by, admin.user_id)
