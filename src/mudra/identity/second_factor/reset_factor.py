"""Reset a person's lost second factor: an act on a person (person_rule.py), never on oneself."""

from mudra.identity.accounts.acts.manage_accounts import AccountChanged, account_changed
from mudra.identity.accounts.refusals import NoSuchUser
from mudra.identity.accounts.user import User
from mudra.identity.memberships.membership_store import Memberships
from mudra.identity.operators.act_on_person import authorize_act
from mudra.identity.operators.person_rule import ActingOperator, ActRefused, PersonAct
from mudra.identity.second_factor.check_code import FactorChange, forget_wrong_codes, notify
from mudra.identity.second_factor.enroll import NO_SECOND_FACTOR
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted
from mudra.shared.refusal import PlainRefusal
from mudra.storage.database.transaction import Transaction


async def reset_factor(
    tx: Transaction, by: ActingOperator, user_id: str
) -> AccountChanged | NoSuchUser | ActRefused | PlainRefusal:
    """Remove a person's second factor and end their tokens and sessions; the password stays."""
    user = await authorize_act(tx, by, user_id, PersonAct.SECOND_FACTOR)
    if not isinstance(user, User):
        return user
    # Before the factor's own lock, as who shows a code takes them.
    await Attempts(tx).history(Counted.SECOND_FACTOR, user_id, lock=True)
    if not await SecondFactors(tx).remove(user_id):
        return NO_SECOND_FACTOR
    await forget_wrong_codes(tx, user_id)
    await notify(tx, user, FactorChange.RESET)
    return await account_changed(tx, user, by.caller, "second-factor-reset")


async def reset_admins_factor(
    tx: Transaction, by: ActingOperator, entity_id: str, email: str
) -> AccountChanged | NoSuchUser | ActRefused | PlainRefusal:
    """Reset the second factor of an admin of this entity."""
    admins = await Memberships(tx).admins(entity_id)
    admin = next((admin for admin in admins if admin.email == email), None)
    return NoSuchUser() if admin is None else await reset_factor(tx, by, admin.user_id)
