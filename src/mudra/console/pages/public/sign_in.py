"""Sign in, sign out, forgot password, and the entry page of the console."""

from typing import Final

from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework import page, render
from mudra.console.framework.console_errors import NO_SUCH_PAGE, CrossSiteForm
from mudra.console.framework.navigation import CONSOLE, member_path, operator_links
from mudra.console.framework.page import Fields
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_language import (
    remember_language,
    take_over_language,
    write_in_language,
)
from mudra.console.framework.page_responses import (
    SIGN_IN,
    after_sign_in,
    own_page_path,
    redirect,
    site_facts,
)
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.session.cookie import (
    session_cookie,
    sessions_are_safe,
    set_session_cookie,
)
from mudra.console.framework.session.csrf import is_same_origin
from mudra.console.framework.session.sign_in_form import sign_in_form
from mudra.http.auth.gates import SIGNED_IN
from mudra.http.auth.with_password import with_password
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.account_requests import UserTokenRequest
from mudra.http.request.body.request_body import read_form
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.http.request.validation import decode_struct
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.second_factor.after_password import stage_after_password
from mudra.identity.sessions.console_sessions import (
    authenticate_session,
    begin_session,
    end_session,
)
from mudra.identity.sessions.session import Stage
from mudra.identity.single_sign_on.local_sign_in import refuse_local
from mudra.shared.refusal import PlainRefusal, Refusal
from mudra.shared.secret_text import SecretText
from mudra.storage.database.transaction import Transaction


@page.get("/", gate=SIGNED_IN)
async def begin(page_context: PageContext) -> Outcome:
    """Go to the first page that the user can see."""
    notice = page_context.query.get("told", "")
    offered = operator_links(page_context.scopes, "")
    if offered:
        return GoTo(offered[0].path)
    user = page_context.user
    if user.is_of_a_member:
        path = member_path((*user.administers, *user.reads)[0])
        return GoTo(f"{path}?told=left" if notice == "left" else path)
    return RenderedPage("nothing_yet.html", {"notice": notice})


@get("/sign-in", include_in_schema=False)
async def show_sign_in(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Show the form, or what is missing from the sign-in that this browser began."""
    context = new_context(request, dependencies)
    to, cookie = own_page_path(request.query_params.get("to", "")), None
    if not request.query_params.get("again"):
        cookie = session_cookie(request, dependencies.settings)
    if cookie is not None:
        async with dependencies.transaction() as tx:
            begun = await authenticate_session(
                tx, cookie, stages=frozenset({Stage.CODE, Stage.ENROLL})
            )
        if begun is not None:
            return redirect(context, after_sign_in(begun.session.stage, to))
    return sign_in_form(context, to)


@post("/sign-in", include_in_schema=False)
async def sign_in(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Sign in with the same rules and throttle as /user/token/generate; starts a new session."""
    context, settings = new_context(request, dependencies), dependencies.settings
    fields = await read_form(request.receive, request.scope["headers"])
    # No session yet, so no CSRF token: the browser's headers must show that our own page sent it.
    if not is_same_origin(request, dependencies.settings):
        return sign_in_form(context, CONSOLE, refusal=CrossSiteForm())
    if not isinstance(fields, dict):
        return sign_in_form(context, CONSOLE, refusal=fields)
    to, username = own_page_path(fields.get("to", "")), fields.get("username", "")
    credentials = decode_struct(fields, UserTokenRequest)
    if isinstance(credentials, Refusal):
        return sign_in_form(context, to, username, refusal=credentials)
    if not sessions_are_safe(dependencies.settings):
        return sign_in_form(context, to, username)

    async def start_session(tx: Transaction, user: User) -> tuple[SecretText, Stage] | PlainRefusal:
        caller, allowed = context.caller(f"user:{user.user_id}"), settings.operator_local_sign_in
        refused = await refuse_local(tx, user, caller, allowed=allowed)
        if refused is not None:
            return refused
        stage = await stage_after_password(tx, user, dependencies.settings.factor_roles)
        if stage is Stage.FULL:
            await take_over_language(request, dependencies, tx, user, caller)
        begun = await begin_session(
            tx,
            user.user_id,
            caller,
            await People(tx).now(),
            random_bytes=dependencies.random_bytes,
            stage=stage,
        )
        return begun.cookie, stage

    outcome = await with_password(
        context, credentials.username, credentials.password, start_session
    )
    if isinstance(outcome, Refusal):
        return sign_in_form(context, to, username, refusal=outcome)
    cookie, stage = outcome
    response = redirect(context, after_sign_in(stage, to))
    set_session_cookie(response, cookie, dependencies.settings)
    return response


@page.post("/sign-out", gate=SIGNED_IN, enrolling=True)
async def sign_out(page_context: PageContext, _: Fields) -> Outcome:
    """End this session."""
    await end_session(page_context.tx, page_context.session, page_context.caller)
    # A form of another site comes without the cookie: it must not remove it from the browser.
    return GoTo(f"{SIGN_IN}?told=signed-out", ends=True)


@get("/forgot-password", include_in_schema=False)
async def forgot_password(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Show the form that requests a link; it posts to /user/password/forgot."""
    links = write_in_language(request, dependencies)
    shown = render.page("forgot_password.html", site_facts(dependencies) | links)
    return remember_language(request, dependencies, shown)


@page.get("/{rest:path}", gate=SIGNED_IN)
async def nothing_here(_: PageContext) -> Outcome:
    """Return "not found" to users who are signed in."""
    return NO_SUCH_PAGE


handlers: Final[list[ControllerRouterHandler]] = [
    begin,
    show_sign_in,
    sign_in,
    sign_out,
    forgot_password,
    nothing_here,
]
