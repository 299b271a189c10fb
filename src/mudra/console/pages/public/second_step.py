"""The second step of signing in, after the right password: a passkey or a code."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import CrossSiteForm, StaleForm, page_problem
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_language import write_in_language
from mudra.console.framework.page_responses import (
    SECOND_STEP,
    SIGN_IN,
    own_page_path,
    redirect,
    site_facts,
)
from mudra.console.framework.render import page, sentence
from mudra.console.framework.session.cookie import session_cookie, set_session_cookie
from mudra.console.framework.session.csrf import CSRF_FIELD, is_same_origin, token_matches
from mudra.console.framework.session.sign_in_form import sign_in_form
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.body.request_body import read_form
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.identity.second_factor.check_code import CODE_REFUSED, FactorKind
from mudra.identity.second_factor.factors import EnrolledFactors
from mudra.identity.second_factor.second_factor_store import SecondFactors
from mudra.identity.second_factor.show_factor import second_factor_shown
from mudra.identity.sessions.console_sessions import (
    BegunSession,
    SignedIn,
    authenticate_session,
    complete_session,
)
from mudra.identity.sessions.session import Stage
from mudra.shared.refusal import Refusal
from mudra.storage.database.transaction import Transaction


@get("/sign-in/code", include_in_schema=False)
async def show_code_form(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Ask for passkey or code, if a password was right before; else for that."""
    context = new_context(request, dependencies)
    async with dependencies.transaction() as tx:
        waiting = await waiting_for_code(request, dependencies, tx)
        if waiting is None:
            return redirect(context, SIGN_IN)
        enrolled = await SecondFactors(tx).enrolled(waiting.user.user_id)
    to = own_page_path(request.query_params.get("to", ""))
    return _form(context, waiting, enrolled, to)


@post("/sign-in/code", include_in_schema=False)
async def enter_code(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Check passkey or code; the session goes on with another cookie."""
    context = new_context(request, dependencies)
    fields = await read_form(request.receive, request.scope["headers"])
    if is_same_origin(request, dependencies.settings) is False:
        return sign_in_form(context, CONSOLE, refusal=CrossSiteForm())
    if isinstance(fields, Mapping) and fields.get("passkey"):
        await dependencies.passkeys.load()
    outcome: BegunSession | Refusal | None
    async with dependencies.transaction() as tx:
        waiting = await waiting_for_code(request, dependencies, tx)
        if waiting is None:
            return redirect(context, f"{SIGN_IN}?told=ended")
        if isinstance(fields, Refusal):
            outcome = fields
        elif not token_matches(waiting.session, fields.get(CSRF_FIELD, "")):
            outcome = StaleForm()
        else:
            outcome = await _checked(context, tx, waiting, fields)
        enrolled = await SecondFactors(tx).enrolled(waiting.user.user_id)
    to = own_page_path(fields.get("to", "")) if isinstance(fields, Mapping) else own_page_path("")
    if isinstance(outcome, Refusal):
        return _form(context, waiting, enrolled, to, outcome)
    if outcome is None:
        return redirect(context, f"{SIGN_IN}?told=ended")
    response = redirect(context, to)
    set_session_cookie(response, outcome.cookie, dependencies.settings)
    return response


async def waiting_for_code(
    request: AnyRequest, dependencies: HttpDependencies, tx: Transaction
) -> SignedIn | None:
    """Find the session whose password was right and whose code is missing."""
    return await authenticate_session(
        tx, session_cookie(request, dependencies.settings), stages=frozenset({Stage.CODE})
    )


async def _checked(
    context: RequestContext, tx: Transaction, waiting: SignedIn, fields: Mapping[str, str]
) -> BegunSession | Refusal | None:
    caller = context.caller(f"user:{waiting.user.user_id}")
    verifier, key = context.dependencies.passkeys, waiting.session.key
    shown = await second_factor_shown(tx, waiting.user, key, fields, caller, verifier)
    if not isinstance(shown, FactorKind):
        return shown or CODE_REFUSED
    return await complete_session(
        tx, waiting.session, caller, waiting.now, random_bytes=context.dependencies.random_bytes
    )


def _form(
    context: RequestContext,
    waiting: SignedIn,
    enrolled: EnrolledFactors,
    to: str,
    refusal: Refusal | None = None,
) -> Response[str]:
    links = write_in_language(context.request, context.dependencies, waiting.user.language)
    problem = page_problem(refusal) if refusal else None
    headers = {} if problem is None else dict(problem.headers)
    headers.pop("WWW-Authenticate", None)  # a form, not HTTP's own dialog
    return page(
        "second_step.html",
        site_facts(context.dependencies)
        | links
        | {
            "action": SECOND_STEP,
            "csrf_token": waiting.session.csrf_token,
            "enrolled": enrolled,
            "to": to,
            "problem": sentence(problem.sentence) if problem else "",
        },
        status=problem.status if problem else HTTPStatus.OK,
        headers=headers,
    )


handlers: Final[list[ControllerRouterHandler]] = [show_code_form, enter_code]
