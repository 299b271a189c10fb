"""Challenges for passkeys, and the sign-in with a passkey alone.

A challenge is bound to the session of who signs it, or to a cookie of a browser in which no one is
signed in; it is fetched when the button is pressed, so that looking at a page stores nothing.
"""

import base64
import hashlib
from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import msgspec
from litestar import Response, post
from litestar.types import ControllerRouterHandler

from mudra.console.framework.console_errors import CrossSiteForm, page_problem
from mudra.console.framework.navigation import CONSOLE
from mudra.console.framework.page_responses import own_page_path, redirect
from mudra.console.framework.render import HEADERS, sentence
from mudra.console.framework.session.cookie import (
    BrowserCookie,
    browser_cookie,
    session_cookie,
    sessions_are_safe,
    set_browser_cookie,
    set_session_cookie,
)
from mudra.console.framework.session.csrf import is_same_origin
from mudra.console.framework.session.sign_in_form import sign_in_form
from mudra.http.dependencies import HttpDependencies, InjectedDependencies
from mudra.http.request.body.request_body import read_form
from mudra.http.request.request_context import AnyRequest, RequestContext, new_context
from mudra.identity.accounts.people_store import People
from mudra.identity.accounts.user import User
from mudra.identity.passkeys.challenge import LIFE, ask_to_prove, ask_to_sign_in
from mudra.identity.passkeys.manage_passkeys import PASSKEYS_OFF
from mudra.identity.passkeys.relying_party import RelyingParty
from mudra.identity.passkeys.sign_in_with_passkey import sign_in_with_passkey
from mudra.identity.sessions.console_sessions import (
    BegunSession,
    authenticate_session,
    begin_session,
)
from mudra.identity.sessions.session import Stage
from mudra.identity.single_sign_on.local_sign_in import refuse_local
from mudra.shared.network_address import address_key
from mudra.shared.refusal import PlainRefusal, Refusal
from mudra.shared.secret_text import SecretText

_COOKIE_BYTES: Final = 32
_ANY_STAGE: Final = frozenset(Stage)


@post("/passkey/challenge", include_in_schema=False, status_code=200)
async def challenge(request: AnyRequest, dependencies: InjectedDependencies) -> Response[bytes]:
    """Return what the browser asks a passkey of who is signed in."""
    party = _asked_by_own_page(request, dependencies)
    if isinstance(party, Refusal):
        return _refused(party)
    await dependencies.passkeys.load()
    async with dependencies.transaction() as tx:
        found = await authenticate_session(
            tx, session_cookie(request, dependencies.settings), stages=_ANY_STAGE
        )
        if found is None:
            return _json({"problem": "Your session has ended: sign in again."}, 401)
        options = await ask_to_prove(
            tx, found.user, found.session.key, party, dependencies.random_bytes
        )
    return _options(options)


@post("/sign-in/passkey/challenge", include_in_schema=False, status_code=200)
async def sign_in_challenge(
    request: AnyRequest, dependencies: InjectedDependencies
) -> Response[bytes]:
    """Return what the browser asks any passkey that it has for this service."""
    party = _asked_by_own_page(request, dependencies)
    if isinstance(party, Refusal):
        return _refused(party)
    await dependencies.passkeys.load()
    raw = dependencies.random_bytes(_COOKIE_BYTES)
    cookie = SecretText(base64.urlsafe_b64encode(raw).rstrip(b"=").decode())
    address = address_key(new_context(request, dependencies).caller("nobody").address)
    async with dependencies.transaction() as tx:
        options = await ask_to_sign_in(
            tx, _holder(cookie), address, party, dependencies.random_bytes
        )
    if isinstance(options, Refusal):
        return _refused(options)
    response = _options(options)
    set_browser_cookie(response, BrowserCookie.CHALLENGE, cookie, LIFE, dependencies.settings)
    return response


@post("/sign-in/passkey", include_in_schema=False)
async def sign_in(request: AnyRequest, dependencies: InjectedDependencies) -> Response[str]:
    """Sign in with the signature of a passkey; starts a new session."""
    context = new_context(request, dependencies)
    fields = await read_form(request.receive, request.scope["headers"])
    if not is_same_origin(request, dependencies.settings):
        return sign_in_form(context, CONSOLE, refusal=CrossSiteForm())
    if not isinstance(fields, Mapping):
        return sign_in_form(context, CONSOLE, refusal=fields)
    to, cookie = (
        own_page_path(fields.get("to", "")),
        browser_cookie(request, BrowserCookie.CHALLENGE, dependencies.settings),
    )
    if not sessions_are_safe(dependencies.settings):
        return sign_in_form(context, to)
    await dependencies.passkeys.load()
    session = await _begun(context, fields.get("passkey", ""), cookie)
    if isinstance(session, Refusal):
        response = sign_in_form(context, to, refusal=session)
    else:
        response = redirect(context, to)
        set_session_cookie(response, session.cookie, dependencies.settings)
    set_browser_cookie(
        response, BrowserCookie.CHALLENGE, SecretText(""), timedelta(), dependencies.settings
    )
    return response


async def _begun(
    context: RequestContext, signed: str, cookie: SecretText | None
) -> BegunSession | Refusal:
    dependencies, caller = context.dependencies, context.caller("nobody")
    async with dependencies.transaction() as tx:
        user = await sign_in_with_passkey(
            tx,
            signed,
            _holder(cookie or SecretText("")),
            caller,
            origin=address_key(caller.address),
            hourly=dependencies.settings.sign_in_hourly,
            verifier=dependencies.passkeys,
        )
        if not isinstance(user, User):
            return user
        caller = context.caller(f"user:{user.user_id}")
        allowed = dependencies.settings.operator_local_sign_in
        refused = await refuse_local(tx, user, caller, allowed=allowed)
        if refused is not None:
            return refused
        return await begin_session(
            tx, user.user_id, caller, await People(tx).now(), random_bytes=dependencies.random_bytes
        )


def _holder(cookie: SecretText) -> bytes:
    return hashlib.sha256(cookie.reveal().encode()).digest()


def _asked_by_own_page(
    request: AnyRequest, dependencies: HttpDependencies
) -> RelyingParty | CrossSiteForm | PlainRefusal:
    if not is_same_origin(request, dependencies.settings):
        return CrossSiteForm()
    return dependencies.passkeys.relying_party or PASSKEYS_OFF


def _refused(refusal: Refusal) -> Response[bytes]:
    problem = page_problem(refusal)
    return _json({"problem": sentence(problem.sentence)}, problem.status)


def _options(options: str) -> Response[bytes]:
    return Response(options.encode(), media_type="application/json", headers=HEADERS)


def _json(facts: Mapping[str, str], status: int) -> Response[bytes]:
    return Response(
        msgspec.json.encode(facts),
        status_code=status,
        media_type="application/json",
        headers=HEADERS,
    )


handlers: Final[list[ControllerRouterHandler]] = [challenge, sign_in_challenge, sign_in]
