"""End what a person without a role has open, as they get their first one (0072).

Who has no role may be asked for less: their sign-in may have been a password alone, and a User
Access Token of it would be that of an operator, or of an admin, for 180 days.
"""

from mudra.audit.event import Caller
from mudra.identity.accounts.end_tokens import end_all_tokens
from mudra.identity.accounts.user import User
from mudra.identity.sign_in.attempt_store import Attempts
from mudra.identity.sign_in.throttle import Counted
from mudra.storage.database.transaction import Transaction


async def end_earlier_sign_ins(tx: Transaction, user: User, caller: Caller) -> int:
    """End the tokens and sessions of a person who had no role; returns how many tokens ended.

    The caller holds the lock of acts on people.
    """
    # A sign-in that is under way holds it until its token or session is stored, which ends below.
    await Attempts(tx).history(Counted.PASSWORD, user.email, lock=True)
    return await end_all_tokens(tx, user.user_id, caller, "first-role")
