"""Change one's own password while signed in; the edge has checked who asks.

The slow hashes are computed between two transactions. What happened meanwhile wins: an account
that was disabled stays so, a password that was set by a link is the one that counts.
"""

from mudra.audit.event import Caller
from mudra.identity.accounts.password_hasher import PasswordHasher
from mudra.identity.accounts.password_rules import PasswordFault, PasswordRefusal
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.refusals import HashingBusy
from mudra.identity.accounts.set_password import put_password
from mudra.identity.accounts.user import User
from mudra.identity.operators.operator_store import Operators
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import OpenTransaction


async def change_password(
    user: User,
    password: SecretText,
    caller: Caller,
    *,
    hasher: PasswordHasher,
    open_transaction: OpenTransaction,
) -> HashingBusy | PasswordRefusal | SignInRefused | None:
    """Store an accepted password; all tokens and sessions of the user end.

    Refused where it is the present one, and where the account was disabled or its password changed
    since `user` was read.
    """
    is_same = await hasher.verify(
        user.password_hash, password, account=user.email, origin=caller.address
    )
    if isinstance(is_same, HashingBusy):
        return is_same
    if is_same:
        return PasswordRefusal(PasswordFault.SAME)
    hashed = await hasher.hash(password, account=user.email, origin=caller.address)
    if isinstance(hashed, HashingBusy):
        return hashed
    async with open_transaction() as tx:
        await Operators(tx).lock_operators()  # who disables the person holds it too
        current = await People(tx).by_id(user.user_id)
        if current is None or not (current.may_sign_in and current.has_password_of(user)):
            return SignInRefused()
        await put_password(tx, current, hashed, caller)
    return None
