"""The step after a right password: a session or token, or a second step first."""

from typing import Final

from mudra.audit.event import Caller
from mudra.identity.accounts.user import User
from mudra.identity.second_factor.check_code import FactorKind, check_code
from mudra.identity.second_factor.enroll import factor_is_required
from mudra.identity.second_factor.policy import FactorRoles, TokenFactor
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sessions.session import Stage
from mudra.identity.sign_in.sign_in import TooManyAttempts
from mudra.shared.refusal import PlainRefusal, RefusalKind
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction

CODE_MISSING: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED, "otp is missing: this account has a second factor"
)


TOKENS_OFF: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED, "an account with a second factor gets no token by password here"
)


ENROLL_FIRST: Final = PlainRefusal(
    RefusalKind.UNAUTHORIZED, "this account needs a second factor: set it up in the console"
)


async def stage_after_password(tx: Transaction, user: User, roles: FactorRoles) -> Stage:
    """Return what a session of the console may do after a right password."""
    if (await SecondFactors(tx).enrolled(user.user_id)).any:
        return Stage.CODE
    return Stage.ENROLL if await factor_is_required(tx, user, roles) else Stage.FULL


async def admit_token(  # what the settings ask, and what was sent
    tx: Transaction,
    user: User,
    otp: SecretText | None,
    caller: Caller,
    *,
    mode: TokenFactor,
    roles: FactorRoles,
) -> PlainRefusal | TooManyAttempts | None:
    """Decide whether a right password alone gives a token; an `otp` that was sent must be right."""
    if mode is TokenFactor.PASSWORD and otp is None:
        return None
    if (await SecondFactors(tx).enrolled(user.user_id)).any:
        if mode is TokenFactor.OFF:
            return TOKENS_OFF
        if otp is None:
            return CODE_MISSING
        checked = await check_code(tx, user, otp, caller)
        return None if isinstance(checked, FactorKind) else checked
    if mode is not TokenFactor.PASSWORD and await factor_is_required(tx, user, roles):
        return ENROLL_FIRST
    return None
