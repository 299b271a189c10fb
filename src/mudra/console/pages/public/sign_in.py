"""Sign in, sign out, forgot password, and the entry page of the console."""

from typing import Final

from litestar import Response, get, post
from litestar.params import FromPath
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import ForeignForm, NoSuchPage
from mudra.console.framework.cookie import (
    delete_session_cookie,
    sessions_are_safe,
    set_session_cookie,
)
from mudra.console.framework.csrf import is_same_origin
from mudra.console.framework.navigation import CONSOLE, member_path, operator_links
from mudra.console.framework.page_context import PageContext
from mudra.console.framework.page_guards import Fields, own_act, own_page
from mudra.console.framework.page_responses import SIGN_IN, own_page_path, redirect, site_facts
from mudra.console.framework.page_results import GoTo, Outcome, RenderedPage
from mudra.console.framework.render import page
from mudra.console.framework.sign_in_form import sign_in_form
from mudra.http.auth.with_password import with_password
from mudra.http.dependencies import InjectedDependencies
from mudra.http.request.account_requests import UserTokenRequest
from mudra.http.request.request_body import read_form
from mudra.http.request.request_context import AnyRequest, new_context
from mudra.http.request.validation import decode_struct
from mudra.identity.accounts.user import User
from mudra.identity.sessions.session import Session, begin_session, end_session
from mudra.shared.refusal import Refusal
from mudra.shared.secret_text import SecretText
from mudra.unit_of_work import UnitOfWork


@get("/", include_in_schema=False)
async def begin(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Go to the first page that the user can see."""

    async def look(page_context: PageContext) -> Outcome:
        notice = page_context.query.get("told", "")
        offered = operator_links(page_context.scopes, "")
        if offered:
            return GoTo(offered[0].path)
        if page_context.user.administers:
            path = member_path(page_context.user.administers[0])
            return GoTo(f"{path}?told=left" if notice == "left" else path)
        return RenderedPage("nothing_yet.html", {"notice": notice})

    return await own_page(request, service, look)


@get("/sign-in", include_in_schema=False)
async def show_sign_in(request: AnyRequest, service: InjectedDependencies) -> Response[str]:
    """Show the form."""
    return sign_in_form(
        new_context(request, service), own_page_path(request.query_params.get("to", ""))
    )


@post("/sign-in", include_in_schema=False)
async def sign_in(request: AnyRequest, service: InjectedDependencies) -> Response[str]:
    """Sign in with the same rules and throttle as /user/token/generate; starts a new session."""
    context = new_context(request, service)
    fields = await read_form(request.receive, request.scope["headers"])
    # No session yet, so no CSRF token: the browser's headers must show that our own page sent it.
    if not is_same_origin(request, service.settings):
        return sign_in_form(context, CONSOLE, refusal=ForeignForm())
    if not isinstance(fields, dict):
        return sign_in_form(context, CONSOLE, refusal=fields)
    to, username = own_page_path(fields.get("to", "")), fields.get("username", "")
    credentials = decode_struct(fields, UserTokenRequest)
    if isinstance(credentials, Refusal):
        return sign_in_form(context, to, username, refusal=credentials)
    if not sessions_are_safe(service.settings):
        return sign_in_form(context, to, username)

    async def start_session(work: UnitOfWork, user: User) -> SecretText:
        return await begin_session(
            user.user_id,
            context.caller(f"user:{user.user_id}"),
            await work.people.now(),
            sessions=work.sessions,
            audit_log=work.audit_log,
            random_bytes=service.random_bytes,
        )

    outcome = await with_password(
        context, credentials.username, credentials.password, start_session
    )
    if not isinstance(outcome, SecretText):
        return sign_in_form(context, to, username, refusal=outcome)
    response = redirect(context, to)
    set_session_cookie(response, outcome, service.settings)
    return response


@post("/sign-out", include_in_schema=False)
async def sign_out(
    request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """End this session."""
    ended: list[Session] = []

    async def do(page_context: PageContext, _: Fields) -> Outcome:
        await end_session(
            page_context.session,
            page_context.caller,
            page_context.work.sessions,
            page_context.work.audit_log,
        )
        ended.append(page_context.session)
        return GoTo(f"{SIGN_IN}?told=signed-out")

    response = await own_act(request, service, do)
    # A form of another site comes without the cookie: it must not remove it from the browser.
    if ended and isinstance(response.content, str):
        delete_session_cookie(response, service.settings)
    return response


@get("/forgot-password", include_in_schema=False)
async def forgot_password(service: InjectedDependencies) -> Response[str]:
    """Show the form that requests a link; it posts to /user/password/forgot."""
    return page("forgot_password.html", site_facts(service))


@get("/{rest:path}", include_in_schema=False)
async def nothing_here(
    rest: FromPath[str], request: AnyRequest, service: InjectedDependencies
) -> Response[str] | Response[bytes]:
    """Return "not found" to users who are signed in."""
    del rest

    async def look(_: PageContext) -> Outcome:
        return NoSuchPage()

    return await own_page(request, service, look)


handlers: Final[list[ControllerRouterHandler]] = [
    begin,
    show_sign_in,
    sign_in,
    sign_out,
    forgot_password,
    nothing_here,
]
