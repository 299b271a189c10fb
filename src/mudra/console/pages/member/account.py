"""The user's own account: User Access Tokens and sessions of the console, and ending them."""

from typing import Final

from litestar.types import ControllerRouterHandler

from mudra.console.framework import page
from mudra.console.framework.console_errors import PROOF_TOO_OLD, page_problem
from mudra.console.framework.navigation import ACCOUNT
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_responses import SIGN_IN, own_page_path
from mudra.console.framework.page_results import GoTo, LongAct, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.framework.session.identity_proof import EACH_TIME_ON_OWN_PAGE
from mudra.console.pages.member.account_alarms import alarm_facts, language_facts
from mudra.http.auth.gates import SIGNED_IN
from mudra.identity.accounts.acts.language_and_zone import choose_display_zone
from mudra.identity.accounts.acts.manage_accounts import end_token as end_user_token
from mudra.identity.accounts.acts.set_password import change_password, refused_password
from mudra.identity.accounts.password_rules import MAX_LENGTH, MIN_LENGTH
from mudra.identity.accounts.user_token_store import UserTokens
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.sessions.console_sessions import end_own_session, open_sessions
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.localization.language import gettext
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText


@page.get("/account", gate=SIGNED_IN)
async def account(page_context: PageContext) -> Outcome:
    """Show the sessions of the user, and the tokens that their programs hold."""
    return await account_page(page_context)


async def account_page(
    page_context: PageContext, password_refused: Refusal | None = None
) -> RenderedPage:
    """Show the page; with why a new password was refused, its form is open again."""
    user_id, tx = page_context.user.user_id, page_context.tx
    issued = await UserTokens(tx).tokens(user_id)
    problem = page_problem(password_refused) if password_refused else None
    text = problem.sentence if problem else ""
    if isinstance(password_refused, SignInRefused):
        text = gettext("that is not your password; nothing was changed")
    return RenderedPage(
        "account.html",
        {
            "tokens": [one for one in issued if one.revoked_at is None],
            "sessions": await open_sessions(tx, user_id, page_context.now),
            "here_id": page_context.session.session_id,
            "enrolled": await SecondFactors(tx).enrolled(user_id),
            "done": page_context.query.get("told", ""),
            "password_problem": sentence(text) if text else "",
            "min_length": MIN_LENGTH,
            "max_length": MAX_LENGTH,
            **language_facts(page_context),
            **await alarm_facts(page_context),
        },
        problem.status if problem else 200,
    )


@page.post("/account/token", gate=SIGNED_IN)
async def end_token(page_context: PageContext, fields: Fields) -> Outcome:
    """End one of the user's tokens."""
    jti = fields.get("jti", "")
    user_id = page_context.user.user_id
    ended = await end_user_token(page_context.tx, user_id, jti, page_context.caller)
    return GoTo(f"{ACCOUNT}?told={'token' if ended else 'nothing'}")


@page.post("/account/session", gate=SIGNED_IN)
async def end_session(page_context: PageContext, fields: Fields) -> Outcome:
    """End one of the user's sessions."""
    tx = page_context.tx
    ended = await end_own_session(
        tx, page_context.user.user_id, fields.get("session", ""), page_context.caller
    )
    return GoTo(f"{ACCOUNT}?told={'session' if ended else 'nothing'}")


@page.post("/account/zone", gate=SIGNED_IN)
async def change_zone(page_context: PageContext, fields: Fields) -> Outcome:
    """Change the time zone of the user's pages, and return to the page of the switch."""
    outcome = await choose_display_zone(
        page_context.tx, page_context.user, page_context.caller, fields.get("zone", "")
    )
    if isinstance(outcome, Refusal):
        return outcome
    return GoTo(own_page_path(fields.get("to", "")))


async def _check(page_context: PageContext, fields: Fields) -> Outcome | None:
    network = page_context.dependencies.settings.network_name
    refused = refused_password(_chosen(fields), page_context.user, network)
    return await account_page(page_context, refused) if refused else None


@page.post("/account/password", gate=SIGNED_IN, proof=EACH_TIME_ON_OWN_PAGE.after(_check))
async def change_own_password(page_context: PageContext, fields: Fields) -> Outcome | LongAct:
    """Change the password; all sessions end, so that one signs in with the new one."""
    dependencies = page_context.dependencies
    if not page_context.proof_given:
        return await account_page(page_context, page_context.proof_refused or PROOF_TOO_OLD)

    async def run() -> GoTo | Refusal:
        outcome = await change_password(
            page_context.user,
            _chosen(fields),
            page_context.caller,
            hasher=dependencies.hasher,
            open_transaction=dependencies.transaction,
        )
        return outcome or GoTo(f"{SIGN_IN}?told=password")

    return LongAct(run)


def _chosen(fields: Fields) -> SecretText:
    return SecretText(fields.get("new_password", ""))


handlers: Final[list[ControllerRouterHandler]] = [
    account,
    end_token,
    end_session,
    change_zone,
    change_own_password,
]
