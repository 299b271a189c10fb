"""The user's own account: User Access Tokens and sessions of the console, and ending them."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import page_problem
from mudra.console.framework.navigation import ACCOUNT
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, own_form, own_page
from mudra.console.framework.page_language import remember_choice
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import sentence
from mudra.console.pages.member.account_alarms import alarm_facts
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.request_context import AnyRequest
from mudra.identity.accounts.choose_language import choose_language
from mudra.identity.accounts.manage_accounts import end_token as end_user_token
from mudra.identity.accounts.password_rules import MAX_LENGTH, MIN_LENGTH
from mudra.identity.sessions.session import end_own_session, open_sessions
from mudra.identity.sign_in.sign_in import SignInRefused
from mudra.localization.language import gettext
from mudra.shared.refusal import Refusal


@get("/account", include_in_schema=False)
async def account(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Show the sessions of the user, and the tokens that their programs hold."""
    return await own_page(request, dependencies, account_page)


async def account_page(
    page_context: PageContext, password_refused: Refusal | None = None
) -> RenderedPage:
    """Show the page; with why a new password was refused, its form is open again."""
    user_id, work = page_context.user.user_id, page_context.work
    issued = await work.memberships.tokens(user_id)
    problem = page_problem(password_refused) if password_refused else None
    text = problem.sentence if problem else ""
    if isinstance(password_refused, SignInRefused):
        text = gettext("that is not your password; nothing was changed")
    return RenderedPage(
        "account.html",
        {
            "tokens": [one for one in issued if one.revoked_at is None],
            "sessions": await open_sessions(user_id, page_context.now, work.sessions),
            "here_id": page_context.session.session_id,
            "enrolled": await work.second_factors.enrolled(user_id),
            "done": page_context.query.get("told", ""),
            "password_problem": sentence(text) if text else "",
            "min_length": MIN_LENGTH,
            "max_length": MAX_LENGTH,
            **_language_facts(page_context),
            **await alarm_facts(page_context),
        },
        problem.status if problem else 200,
    )


@post("/account/token", include_in_schema=False)
async def end_token(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """End one of the user's tokens."""

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        jti = fields.get("jti", "")
        user_id = page_context.user.user_id
        ended = await end_user_token(page_context.work, user_id, jti, page_context.caller)
        return GoTo(f"{ACCOUNT}?told={'token' if ended else 'nothing'}")

    return await own_form(request, dependencies, handle)


@post("/account/session", include_in_schema=False)
async def end_session(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """End one of the user's sessions."""

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        work = page_context.work
        ended = await end_own_session(
            page_context.user.user_id,
            fields.get("session", ""),
            page_context.caller,
            work.sessions,
            work.audit_log,
        )
        return GoTo(f"{ACCOUNT}?told={'session' if ended else 'nothing'}")

    return await own_form(request, dependencies, handle)


@post("/account/language", include_in_schema=False)
async def change_language(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Change the language of the user's emails and pages."""
    chosen: list[str] = []

    async def handle(page_context: PageContext, fields: Fields) -> Outcome:
        known = {one.tag for one in dependencies.languages.choices}
        outcome = await choose_language(
            page_context.work,
            page_context.user,
            page_context.caller,
            fields.get("language", ""),
            known,
        )
        if isinstance(outcome, Refusal):
            return outcome
        chosen.append(outcome)
        return GoTo(f"{ACCOUNT}?told=language")

    response = await own_form(request, dependencies, handle)
    if chosen:
        remember_choice(chosen[0], dependencies, response)
    return response


def _language_facts(page_context: PageContext) -> dict[str, object]:
    """Returns what the account page shows of languages."""
    languages = page_context.dependencies.languages
    return {
        "languages": languages.choices,
        "chosen_language": page_context.user.language,
        "network_language": languages.name_of(languages.default.tag),
    }


handlers: Final[list[ControllerRouterHandler]] = [account, end_token, end_session, change_language]
