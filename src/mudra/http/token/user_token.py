"""POST /user/token/generate (spec 4.1, 5.1)."""

from mudra.http.auth.with_password import with_password
from mudra.http.endpoint import ANYONE, Call
from mudra.http.request.account_requests import UserTokenRequest
from mudra.http.route import post_form
from mudra.http.token.responses import UserTokenResponse, user_token_response
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.second_factor.after_password import admit_token
from mudra.identity.single_sign_on.local_sign_in import refuse_local
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction
from mudra.tokens.claims import USER_TOKEN_LIFE_S, Claims


@post_form("/user/token/generate", "Generate a User Access Token", gate=ANYONE)
async def generate(call: Call[UserTokenRequest]) -> UserTokenResponse | Refusal:
    """Exchange username and password for a token of 180 days.

    The operator can ask people with a second factor for `otp` as well, or refuse them.
    """
    user_tokens, settings = call.dependencies.user_tokens, call.dependencies.settings

    async def record(tx: Transaction, user: User) -> Claims | Refusal:
        caller = call.context.caller(f"user:{user.user_id}")
        refused = await refuse_local(
            tx, user, caller, allowed=settings.operator_local_sign_in
        ) or await admit_token(
            tx,
            user,
            call.body.otp,
            caller,
            mode=settings.factor_for_tokens,
            roles=settings.factor_roles,
        )
        if refused is not None:
            return refused
        return await user_tokens.record(tx, user, caller, await People(tx).now())

    claims = await with_password(call.context, call.body.username, call.body.password, record)
    if isinstance(claims, Refusal):
        return claims
    return user_token_response(await user_tokens.sign(claims), USER_TOKEN_LIFE_S)
